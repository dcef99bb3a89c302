import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readSigningKey } from './signing-key.ts'

const folder = await mkdtemp(join(tmpdir(), 'atrium-signing-key-'))
after(() => rm(folder, { recursive: true }))

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

test('made once in the data folder, for its owner alone, however many start at once', async () => {
  for (let round = 0; round < 30; round++) {
    const dataDir = join(folder, `data-${round}`)
    const keys = await Promise.all(Array.from({ length: 8 }, () => readSigningKey({ dataDir })))
    for (const key of keys) assert.ok(key.equals(keys[0]!))
    assert.ok((await readSigningKey({ dataDir })).equals(keys[0]!), 'and read again at the next start')
    assert.deepEqual(await readdir(dataDir), ['space-signing-key'], 'no draft is left over')
    assert.equal((await stat(join(dataDir, 'space-signing-key'))).mode & 0o777, 0o600)
  }
})

test('the variable counts, as PEM, as PEM on one line and as JWK; then no file is made', async () => {
  const dataDir = join(folder, 'untouched')
  const jwk = JSON.stringify(privateKey.export({ format: 'jwk' }))
  for (const variable of [pem, pem.replaceAll('\n', '\\n'), ` ${jwk}\n`]) {
    assert.ok((await readSigningKey({ variable, dataDir })).equals(privateKey))
  }
  await assert.rejects(stat(dataDir))
})

const exported = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string
const bad: readonly [string, string][] = [
  ['no key', 'secret-hunter2'],
  [
    'a public key',
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }) as string,
  ],
  ['another curve', exported(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey)],
  ['an RSA key', exported(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey)],
  ['a broken JWK', '{"kty":"EC","d":"secret-hunter2"'],
  ['half a PEM', pem.slice(0, 80)],
]

for (const [name, variable] of bad) {
  test(`${name} is refused, by the variable's name and without its value`, async () => {
    await assert.rejects(readSigningKey({ variable, dataDir: folder }), ({ message }: Error) => {
      assert.match(message, /^ATRIUM_SPACE_SIGNING_KEY must be/)
      return !message.includes('hunter2') && !message.includes(variable.slice(-20))
    })
  })
}

test('a file that is damaged stops the start and is not written over', async () => {
  const dataDir = await mkdtemp(join(folder, 'damaged-'))
  await writeFile(join(dataDir, 'space-signing-key'), '')
  await chmod(join(dataDir, 'space-signing-key'), 0o600)
  await assert.rejects(readSigningKey({ dataDir }), /space-signing-key must be/)
  assert.equal((await stat(join(dataDir, 'space-signing-key'))).size, 0)
})

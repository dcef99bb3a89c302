import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { StartError } from '#errors/start-error.ts'
import { publishedKeys, ReportSigner } from '#testing/report-signer.ts'
import { readConfig } from './config.ts'
import { readEnv } from './env.ts'
import { readReportKeys } from './report-keys-config.ts'

const read = (env: NodeJS.ProcessEnv) => readConfig(readEnv(env)).reportKeys
const refused = (env: NodeJS.ProcessEnv, message: RegExp) =>
  assert.throws(
    () => read(env),
    (error) => error instanceof StartError && message.test(error.message),
  )

test("the keys are GitHub's, unless an address or a file is set", () => {
  assert.deepEqual(read({}), { url: 'https://api.github.com/meta/public_keys/secret_scanning' })
  for (const url of ['https://mirror.example/keys', 'http://127.0.0.1:9/keys', 'http://[::1]:9/'])
    assert.deepEqual(read({ ATRIUM_LEAKS_KEYS_URL: url }), { url })
  for (const url of ['mirror.example', 'http://mirror.example/keys', 'file:///etc/passwd'])
    refused({ ATRIUM_LEAKS_KEYS_URL: url }, /^ATRIUM_LEAKS_KEYS_URL must be an https address/)
})

test('a file with keys is read at the start, and a wrong one stops it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-keys-file-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'keys.json')
  const env = { ATRIUM_LEAKS_KEYS_FILE: path }
  refused(env, /^ATRIUM_LEAKS_KEYS_FILE: .* cannot be read/)
  for (const text of ['{}', '[]', '{"public_keys":[]}', '{"public_keys":[{"key_identifier":"a","key":"no pem"}]}']) {
    writeFileSync(path, text)
    refused(env, /^ATRIUM_LEAKS_KEYS_FILE: .* has no key/)
  }
  const signer = new ReportSigner()
  writeFileSync(path, publishedKeys([signer]))
  const config = read(env)
  assert.ok('keys' in config && config.keys.has(signer.identifier))
  refused({ ...env, ATRIUM_LEAKS_KEYS_URL: 'https://mirror.example/keys' }, /^ATRIUM_LEAKS_KEYS_URL must not be set/)
})

test('a key that cannot sign reports is left out', () => {
  const signer = new ReportSigner()
  const others = [generateKeyPairSync('ec', { namedCurve: 'P-384' }), generateKeyPairSync('ed25519')].map(({ publicKey }, i) => ({
    key_identifier: `other-${i}`,
    key: publicKey.export({ type: 'spki', format: 'pem' }),
  }))
  const { public_keys: good } = JSON.parse(publishedKeys([signer]))
  const bytes = Buffer.from(JSON.stringify({ public_keys: [null, 1, {}, ...others, ...good] }))
  assert.deepEqual([...readReportKeys(bytes).keys()], [signer.identifier])
})

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { StartError } from '#errors/start-error.ts'
import { environmentWarnings, readEnv } from './env.ts'
import { secretVariables } from './secret-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-secret-files-'))
after(() => rmSync(folder, { recursive: true }))

function fileWith(text: string): string {
  const path = join(folder, `secret-${text.length}`)
  writeFileSync(path, text)
  return path
}

test('each secret of the server is read from its file, without the line end', () => {
  const path = fileWith('hush-hush\n')
  for (const name of secretVariables.filter((name) => name !== 'ATRIUM_SPACE_SIGNING_KEY')) {
    assert.ok(Object.values(readEnv({ [`${name}_FILE`]: path })).includes('hush-hush'), name)
    assert.deepEqual(environmentWarnings({ [`${name}_FILE`]: path }), [], name)
  }
})

test('a variable that is no secret is not read from a file', () => {
  const env = { ATRIUM_PUBLIC_URL_FILE: fileWith('https://api.example') }
  assert.equal(readEnv(env).publicUrl, undefined)
  assert.match(environmentWarnings(env)[0]!, /^ATRIUM_PUBLIC_URL_FILE is not a variable of Atrium/)
})

test('a secret that is set twice is taken from the variable, and the start says so', () => {
  const env = { TURN_SECRET: 'the variable', TURN_SECRET_FILE: join(folder, 'absent') }
  assert.equal(readEnv(env).turnSecret, 'the variable')
  assert.deepEqual(environmentWarnings(env), [
    'TURN_SECRET and TURN_SECRET_FILE are both set. TURN_SECRET is used, and the file is not read.',
  ])
})

test('a file that is absent, a folder, empty or too large stops the start, and is not quoted', () => {
  const wrong = {
    '/nonexistent/x': 'ENOENT',
    [folder]: 'EISDIR',
    [fileWith(' \n')]: 'empty',
    [fileWith('s'.repeat(65_537))]: 'large',
  }
  for (const [path, reason] of Object.entries(wrong)) {
    assert.throws(
      () => readEnv({ ATRIUM_ADMIN_TOKEN_FILE: path }),
      (error) =>
        error instanceof StartError &&
        error.message.startsWith('ATRIUM_ADMIN_TOKEN_FILE: ') &&
        error.message.includes(reason) &&
        !error.message.includes('ssss'),
      path,
    )
  }
})

test('every variable of a secret is in the list', () => {
  const source = readFileSync(new URL('env.ts', import.meta.url), 'utf8')
  const named = [...source.matchAll(/get\('([A-Z0-9_]*(?:SECRET|TOKEN|COUPON|_KEY|_URL)[A-Z0-9_]*)'\)/g)].map(([, name]) => name!)
  const open = new Set([
    'TURN_URLS',
    'ATRIUM_LEAKS_KEYS_FILE',
    'ATRIUM_LEAKS_KEYS_URL',
    'ATRIUM_BOOTSTRAP_TOKEN',
    'ATRIUM_CONSOLE_URL',
    'ATRIUM_PUBLIC_URL',
    'ATRIUM_SPACES_URL',
    'ATRIUM_SPACE_PUBLISHABLE_KEY',
  ])
  for (const name of ['REGION', 'ENDPOINT']) open.add(`ATRIUM_MASTER_KEY_KMS_${name}`)
  assert.deepEqual(
    named.filter((name) => !open.has(name) && !secretVariables.includes(name)),
    [],
  )
})

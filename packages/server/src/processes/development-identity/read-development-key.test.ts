import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readDevelopmentKey } from './read-development-key.ts'

async function folder(t: TestContext): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'atrium-key-'))
  t.after(() => rm(base, { recursive: true, force: true }))
  return join(base, 'data')
}

test('the key is made once, for its owner alone, and kept', async (t) => {
  const dataDir = await folder(t)
  const first = await readDevelopmentKey(dataDir)
  assert.equal((await stat(join(dataDir, 'dev-identity-key'))).mode & 0o777, 0o600)
  assert.ok(first.equals(await readDevelopmentKey(dataDir)))
  assert.ok(!first.equals(await readDevelopmentKey(await folder(t))))
})

test('of several that start at once all have the same key, and nothing else stays behind', async (t) => {
  const dataDir = await folder(t)
  const keys = await Promise.all(Array.from({ length: 8 }, () => readDevelopmentKey(dataDir)))
  assert.ok(keys.every((key) => key.equals(keys[0]!)))
  assert.deepEqual(await readdir(dataDir), ['dev-identity-key'])
})

test('a file that is no RSA key, and a folder that takes none, say so in one line', async (t) => {
  const dataDir = await folder(t)
  await readDevelopmentKey(dataDir)
  await writeFile(join(dataDir, 'dev-identity-key'), 'gone')
  await assert.rejects(readDevelopmentKey(dataDir), /dev-identity-key is not an RSA key; remove it/)
  await assert.rejects(readDevelopmentKey('/dev/null/data'), /ATRIUM_DATA_DIR/)
})

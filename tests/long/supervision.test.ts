import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { install, lockFile, postmasterPid } from '../support/embedded-installation.ts'

test('a PostgreSQL that cannot be started again ends the process with the reason', async (t) => {
  const { dataDir, start } = await install(t)
  const run = await start(['--no-space'])
  const versionFile = join(dataDir, 'postgres', 'global', 'pg_control')
  await rm(versionFile)
  process.kill(postmasterPid(dataDir), 'SIGKILL')
  assert.equal(await run.ended(40_000), 1, run.output())
  assert.match(run.output(), /^atrium: PostgreSQL ended 6 times in a row: .*pg_control/m)
  await rm(lockFile(dataDir), { force: true })
})

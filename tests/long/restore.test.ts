import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { call } from '../support/call-api.ts'
import { install } from '../support/embedded-installation.ts'
import { startLoad } from '../support/load.ts'
import { runAtrium } from '../support/run-atrium.ts'

test('backup under load, data folder gone, restore elsewhere: nothing acknowledged before the printed time is missing', async (t) => {
  const safe = await mkdtemp(join(tmpdir(), 'atrium-safe-'))
  t.after(() => rm(safe, { recursive: true, force: true }))
  const lost = await install(t)
  const server = await lost.start()
  const load = await startLoad(lost.origin)

  await delay(3_000)
  const archive = join(safe, 'archive.tar')
  const backup = runAtrium(['backup', archive], { ATRIUM_DATA_DIR: lost.dataDir })
  assert.equal(await backup.ended(60_000), 0, backup.output())
  await delay(1_000)
  await load.stop()
  const snapshotMs = Date.parse(/Snapshot: (\S+)\. /.exec(backup.output())![1]!)
  await copyFile(join(lost.dataDir, 'master-key'), join(safe, 'master-key'))
  server.kill('SIGKILL')
  await server.ended(15_000)
  await rm(lost.dataDir, { recursive: true, force: true, maxRetries: 100, retryDelay: 50 })

  const found = await install(t)
  await copyFile(join(safe, 'master-key'), join(found.dataDir, 'master-key'))
  const restore = runAtrium(['restore', archive, '--verify'], { ATRIUM_DATA_DIR: found.dataDir })
  assert.equal(await restore.ended(120_000), 0, restore.output())
  t.diagnostic(restore.output())
  await found.start()
  const list = `GET ${load.itemsPath}`
  assert.equal((await call(found.origin, list, load.owner)).status, 503, 'the window is closed')
  const confirmed = runAtrium(['restore', '--confirm-window'], { ATRIUM_DATA_DIR: found.dataDir })
  assert.equal(await confirmed.ended(30_000), 0, confirmed.output())
  for (const deadline = Date.now() + 10_000; ; await delay(100)) {
    const answers = [call(found.origin, list, load.owner), call(found.origin, 'POST /v1/space', { body: load.poll })]
    if ((await Promise.all(answers)).every(({ status }) => status === 200)) break
    assert.ok(Date.now() < deadline)
  }

  const { acknowledged } = load
  const expected = acknowledged.filter(({ atMs }) => atMs < snapshotMs)
  t.diagnostic(`${expected.length} of ${acknowledged.length} writes were acknowledged before the snapshot`)
  assert.ok(expected.length > 100 && expected.length < acknowledged.length)
  await load.assertKept(found.origin, expected)
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../support/atrium-process.ts'
import { call, makeCollection } from '../support/call-api.ts'
import { until } from '../support/embedded-installation.ts'
import { runAtrium, type AtriumRun } from '../support/run-atrium.ts'
import { skipWithout } from '../support/skip-without.ts'
import { atEnd, dataFolder, emptyDatabase } from '../support/start-settings.ts'

async function untilReady(run: AtriumRun, origin: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 50) {
    const ready = await call(origin, 'GET /readyz').then(
      ({ status }) => status === 200,
      () => false,
    )
    if (ready) return
    assert.ok(waitedMs < 30_000 && (await run.ended(50)) === undefined, `it starts:\n${run.output()}`)
  }
}

async function startEmbedded(t: TestContext, dataDir: string, port: number): Promise<AtriumRun & { origin: string }> {
  const run = runAtrium(['start'], { ATRIUM_DATA_DIR: dataDir, PORT: String(port) })
  const origin = `http://localhost:${port}`
  // After SIGTERM, Atrium ends with its PostgreSQL, whose files can then be removed.
  atEnd(t, async () => {
    run.kill()
    await run.ended(10_000)
  })
  await untilReady(run, origin)
  // What it prints comes after it is ready.
  while (!run.output().includes('Atrium is running')) await delay(20)
  return { ...run, origin }
}

test('without a database it starts its own; the development keys are printed once, and the data survives a restart', async (t) => {
  const dataDir = await dataFolder(t)
  const port = await freePort()
  const first = await startEmbedded(t, dataDir, port)
  const secret = /secret +(wsk_\w+)/.exec(first.output())?.[1]
  const publishable = /publishable +(wpk_\w+)/.exec(first.output())?.[1]
  assert.ok(secret && publishable, first.output())
  const pasted = first.output().split('Make a collection:\n')[1]!.split('\n\n')[0]!
  await t.test('the printed curl command works unchanged', { skip: skipWithout('curl') }, async () => {
    const { stdout } = await promisify(execFile)('sh', ['-c', pasted])
    assert.match((JSON.parse(stdout) as { data: { id: string } }).data.id, /^col_/)
  })
  const { id } = await makeCollection(first.origin, publishable)
  const operatorToken = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()
  for (const name of ['admin-token', 'master-key']) {
    assert.equal((await stat(join(dataDir, name))).mode & 0o777, 0o600, name)
    assert.ok(first.output().includes(join(dataDir, name)), 'its path is printed')
  }
  assert.ok(!first.output().includes(operatorToken), 'the token is not')
  const order = { key: secret, idempotencyKey: 'kept', body: { kind: 'secret' } }
  const before = await call(first.origin, 'POST /v1/tenant/keys', order)
  first.kill()
  assert.equal(await first.ended(20_000), 0)

  const second = await startEmbedded(t, dataDir, port)
  assert.doesNotMatch(second.output(), /wsk_|wpk_/, 'keys are printed once')
  assert.equal(
    (await call(second.origin, `GET /v1/collections/${id}`, { key: publishable })).status,
    200,
    'data and keys are kept',
  )
  const replay = await call(second.origin, 'POST /v1/tenant/keys', order)
  assert.deepEqual([replay.text, replay.headers['idempotency-status']], [before.text, 'replayed'], 'and the master key')
  const operator = await call(second.origin, 'POST /v1/tenants', {
    headers: { 'x-admin-token': operatorToken },
    body: { name: 'x' },
  })
  assert.equal(operator.status, 201, 'and the operator token')

  const rival = runAtrium(['start'], { ATRIUM_DATA_DIR: dataDir, PORT: String(await freePort()) })
  assert.equal(await rival.ended(30_000), 1)
  assert.match(rival.output(), /^atrium: .*is in use by another running atrium.*\n$/, 'two do not share a data folder')

  second.kill('SIGKILL')
  await second.ended(5_000)
  const third = await startEmbedded(t, dataDir, port)
  assert.equal((await call(third.origin, `GET /v1/collections/${id}`, { key: publishable })).status, 200, 'kill -9 loses nothing')
})

// The first one waits for most of ten seconds.
describe('a signal', { concurrency: true }, () => {
  test('ends a start that waits for a migration, within ten seconds', async (t) => {
    const env = { ...(await emptyDatabase(t)), ATRIUM_MIGRATE: 'off' }
    const run = runAtrium(['start'], env)
    t.after(() => run.kill('SIGKILL'))
    for (let waitedMs = 0; !run.output().includes('Waiting for it'); waitedMs += 10) {
      assert.ok(waitedMs < 20_000, run.output())
      await delay(10)
    }
    run.kill()
    // It ends after 9.3 seconds, and a busy machine may be late.
    assert.equal(await run.ended(15_000), 0, run.output())
  })

  test('during the start ends it together with its PostgreSQL', async (t) => {
    const dataDir = await dataFolder(t)
    const run = runAtrium(['start'], { ATRIUM_DATA_DIR: dataDir, PORT: String(await freePort()) })
    atEnd(t, async () => run.kill('SIGKILL'))
    const lock = join(dataDir, 'postgres', 'postmaster.pid')
    for (let waitedMs = 0; !existsSync(lock); waitedMs += 10) {
      assert.ok(waitedMs < 20_000, run.output())
      await delay(10)
    }
    run.kill()
    const killedAt = performance.now()
    assert.equal(await run.ended(15_000), 0, run.output())
    // On a busy machine, a start that has not come to its end after 9.3 seconds is cut off. PostgreSQL then ends by itself.
    if (performance.now() - killedAt > 9_000) await until(() => !existsSync(lock), 'PostgreSQL ends', 30_000)
    assert.ok(!existsSync(lock), 'PostgreSQL has ended')
  })
})

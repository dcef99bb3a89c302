import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { call, makeCollection, makeTenant, type Answer } from '../support/call-api.ts'
import { freePort } from '../support/atrium-process.ts'
import { install, until } from '../support/embedded-installation.ts'
import { runAtrium } from '../support/run-atrium.ts'
import { mountDisk, whyNoDisk } from '../support/small-disk.ts'

const skip = whyNoDisk()

test(
  'on a full disk writes are 503, reads continue, nothing is lost, and writes resume once there is space',
  { skip },
  async (t) => {
    const disk = mountDisk(t, 420)
    const { origin, start } = await install(t, { parent: disk.folder })
    const run = await start(['--no-space'])
    const { publishable: key } = await makeTenant(origin)
    const { id, token } = await makeCollection(origin, key)
    const kept = new Set<string>()
    let sent = 0
    const add = async (): Promise<Answer> => {
      const content = { text: `${sent++} ${'x'.repeat(8_000)}` }
      const body = { type: 'message', content }
      const answer = await call(origin, `POST /v1/collections/${id}/items`, { key, idempotencyKey: `item-${sent}`, body })
      if (answer.status === 201) kept.add((JSON.parse(answer.text) as { data: { id: string } }).data.id)
      else assert.deepEqual([answer.status, answer.code], [503, 'unavailable'], answer.text)
      return answer
    }
    const read = () => call(origin, `GET /v1/collections/${id}`, { key })
    for (let i = 0; i < 20; i++) await add()

    for (let round = 0; round < 2; round++) {
      disk.fill()
      const filledAt = performance.now()
      // Several clients use up the rest of the log at the same time.
      let refused: Answer | undefined
      while (!refused) {
        assert.ok(performance.now() - filledAt < 15_000, 'writing ends')
        refused = (await Promise.all(Array.from({ length: 8 }, add))).find(({ status }) => status === 503)
      }
      assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
      await until(() => run.output().split('is full').length - 1 > round, run.output(), 10_000)
      for (let i = 0; i < 30; i++) {
        const { status, text } = await read()
        assert.equal(status, 200, text)
        assert.equal((await add()).status, 503)
        await delay(50)
      }
      disk.clear()
      const clearedAt = performance.now()
      while ((await add()).status !== 201) {
        assert.ok(performance.now() - clearedAt < 15_000, run.output())
        await delay(50)
      }
      t.diagnostic(
        `refused after ${Math.round(performance.now() - filledAt)} ms in all, written again ${Math.round(performance.now() - clearedAt)} ms after there was room`,
      )
    }
    const stored = new Set<string>()
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const path = `GET /v1/collections/${id}/items?limit=200${cursor ? `&cursor=${cursor}` : ''}`
      const page = await call(origin, path, { key, headers: { 'x-collection-token': token } })
      assert.equal(page.status, 200, page.text)
      const { data, meta } = JSON.parse(page.text) as { data: { items: { id: string }[] }; meta?: { next_cursor?: string } }
      for (const item of data.items) stored.add(item.id)
      cursor = meta?.next_cursor
    }
    assert.deepEqual(
      [...kept].filter((one) => !stored.has(one)),
      [],
      'what was answered 201 is there',
    )
    assert.doesNotMatch(run.output(), /PANIC/)
    run.kill('SIGTERM')
    assert.equal(await run.ended(12_000), 0)
  },
)

test('a first start on a full disk says so, leaves nothing half done, and works once there is space', { skip }, async (t) => {
  // Not enough for the first files, for all migrations, and for what a start writes after them.
  for (const megabytes of [10, 45, 75]) {
    const disk = mountDisk(t, megabytes)
    const env = { ATRIUM_DATA_DIR: join(disk.folder, 'data'), PORT: String(await freePort()) }
    const first = runAtrium(['start', '--no-space'], env)
    t.after(() => first.kill('SIGKILL'))
    assert.equal(await first.ended(30_000), 1, first.output())
    const lines = first.output().trim().split('\n')
    t.diagnostic(`${megabytes} MB: ${lines.at(-1)}`)
    assert.match(lines.at(-1) ?? '', /^atrium: .*(No space left on device|disk .*is full)/, first.output())
    assert.doesNotMatch(first.output(), /DATABASE_URL/)
    disk.resize(700)
    const migrated = runAtrium(['migrate'], env)
    assert.equal(await migrated.ended(60_000), 0, migrated.output())
    const second = runAtrium(['start', '--no-space'], env)
    t.after(() => second.kill('SIGKILL'))
    await until(() => second.output().includes('Atrium is running'), second.output(), 30_000)
    second.kill('SIGTERM')
    assert.equal(await second.ended(12_000), 0, second.output())
  }
})

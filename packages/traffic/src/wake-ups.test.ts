import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Connections } from './connections.ts'
import { Listener } from './listener.ts'
import { WakeUps } from './wake-ups.ts'

const url = process.env['ATRIUM_TEST_DATABASE_URL']!
const channel = 'wake_ups_test'

let connections: Connections
let listener: Listener
let heard: string[]
let failed: string[]
/** How many sends the wake-ups made. */
let sends: number
let wakeUps: WakeUps

before(async () => {
  connections = new Connections({ url, max: 2, onError: () => undefined })
  const acquire = connections.acquire.bind(connections)
  connections.acquire = (use) => {
    sends++
    return acquire(use)
  }
  const onError = (error: Error) => assert.fail(error)
  listener = new Listener({ url, channel, onMessage: (payload) => heard.push(payload), onGap: () => undefined, onError })
  await listener.start()
})

after(async () => {
  await listener.close()
  await connections.end()
})

beforeEach(() => {
  heard = []
  failed = []
  sends = 0
  wakeUps = new WakeUps(connections, ({ message }) => failed.push(message))
})

async function untilHeard(count: number): Promise<void> {
  for (let waitedMs = 0; heard.length < count; waitedMs += 5) {
    assert.ok(waitedMs < 5_000, `${heard.length} of ${count}`)
    await delay(5)
  }
}

test('the first wake-up leaves at once, and those that follow share a few sends, each once', async () => {
  wakeUps.add(channel, 'first')
  for (let i = 0; i < 1_000; i++) wakeUps.add(channel, `room ${i % 50}`)
  await untilHeard(51)
  await wakeUps.close()
  assert.equal(heard[0], 'first')
  assert.equal(new Set(heard).size, 51)
  assert.ok(sends <= 3, `${sends} sends`)
})

test('what waits when the process stops is sent', async () => {
  wakeUps.add(channel, 'first')
  wakeUps.add(channel, 'last')
  await wakeUps.close()
  await untilHeard(2)
  assert.deepEqual(heard, ['first', 'last'])
})

test('failures in a row are reported once, and the next wake-up is sent', async (t) => {
  const acquire = t.mock.method(connections, 'acquire', () => Promise.reject(new Error('no connection')))
  for (let i = 0; i < 3; i++) {
    wakeUps.add(channel, `lost ${i}`)
    await delay(20)
  }
  assert.deepEqual(failed, ['no connection'])
  acquire.mock.restore()
  wakeUps.add(channel, 'kept')
  await untilHeard(1)
  assert.deepEqual(heard, ['kept'])
})

test('while the database is silent the memory for wake-ups is bounded', async (t) => {
  const stuck = Promise.withResolvers<never>()
  const acquire = t.mock.method(connections, 'acquire', () => stuck.promise)
  wakeUps.add(channel, 'first')
  for (let i = 0; i < 30_000; i++) wakeUps.add(channel, `room ${i}`)
  acquire.mock.restore()
  stuck.reject(new Error('no answer'))
  await untilHeard(10_000)
  await wakeUps.close()
  assert.equal(heard.length, 10_000)
})

/**
 * The functions that processes of the previous release call. They notify in the transaction, as those processes expect.
 */
const forPreviousRelease = ['number-events.sql', 'try-append-lines.sql']

test('nothing else notifies: not a store, not an SQL function', async () => {
  const packages = path.resolve(import.meta.dirname, '../..')
  const notifying: string[] = []
  for (const name of await readdir(packages)) {
    // Not the whole package: a build that another test needs replaces folders beside the sources.
    const source = path.join(packages, name, 'src')
    if (!existsSync(source)) continue
    for (const entry of await readdir(source, { recursive: true })) {
      if (!/\.(?:ts|sql)$/.test(entry) || /\.test\.ts$|(?:^|\/)testing\//.test(entry)) continue
      const text = await readFile(path.join(source, entry), 'utf8')
      // The command has its channel behind it: notify atrium_events.
      if (/pg_notify\s*\(|['"`;]\s*notify\s+["$\w]/i.test(text)) notifying.push(path.basename(entry))
    }
  }
  assert.deepEqual(notifying.toSorted(), [...forPreviousRelease, 'wake-ups.ts'].toSorted())
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../packages/client/src/create-client.ts'
import { followStream } from '../packages/client/src/follow-stream.ts'
import { openStream } from '../packages/server/testing/read-stream.ts'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, startSeveral, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, makeTenant } from './support/call-api.ts'

test('a stream of one process sends what another one adds, also while its own is killed', { timeout: 120_000 }, async (t) => {
  const database = await createTestDatabase()
  const options = { databaseUrl: database.url, role: 'api' } as const
  const processes = (await startSeveral(2, options)) as [AtriumProcess, AtriumProcess]
  const stop = new AbortController()
  t.after(async () => {
    stop.abort()
    await Promise.all(processes.map((one) => one.end('SIGKILL')))
    await database.drop()
  })
  const [writing, read] = processes
  const tenant = await makeTenant(writing.origin)
  const body = { item_access: 'open', wall: true }
  const { id } = (await askGood(writing.origin, 'POST /v1/collections', { key: tenant.publishable, body })).data
  const add = (content: number) =>
    askGood(writing.origin, `POST /v1/collections/${id}/items`, { key: tenant.publishable, body: { type: 'm', content } })

  const reader = createClient({ baseUrl: read.origin, retries: 0 })
  const seen: number[] = []
  let onSeen = () => undefined as void
  const following = (async () => {
    for await (const { event, data } of followStream(reader.streamWall, { id, signal: stop.signal })) {
      if (event === 'item') seen.push(data.content as number)
      onSeen()
    }
  })()
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      onSeen = () => seen.length >= count && resolve()
      onSeen()
    })
  // The first message of the stream.
  await new Promise<void>((resolve) => (onSeen = resolve))
  for (let n = 0; n < 20; n++) await add(n)
  await until(20)
  for (let kill = 0; kill < 2; kill++) {
    await processes[1].end('SIGKILL')
    for (let n = 0; n < 150; n++) await add(seen.length + n)
    processes[1] = await startAtrium({ ...options, port: Number(new URL(read.origin).port) })
    await until(20 + 150 * (kill + 1))
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 320 }, (_, n) => n),
  )
  stop.abort()
  await following
})

test('a cursor of one process is never beyond the log that another one has read', { timeout: 120_000 }, async (t) => {
  const database = await createTestDatabase()
  const processes = await startSeveral(2, { databaseUrl: database.url, role: 'api' })
  t.after(async () => {
    await Promise.all(processes.map((one) => one.end('SIGKILL')))
    await database.drop()
  })
  const [writing, resuming] = processes as [AtriumProcess, AtriumProcess]
  const { publishable: key } = await makeTenant(writing.origin)
  const body = { item_access: 'open', wall: true }
  const { id } = (await askGood(writing.origin, 'POST /v1/collections', { key, body })).data
  const add = (content: number) =>
    askGood(writing.origin, `POST /v1/collections/${id}/items`, { key, body: { type: 'm', content } })
  const open = (at: AtriumProcess, lastEventId?: string) =>
    openStream(`${at.origin}/v1`, `/collections/${id}/wall/stream`, { lastEventId })
  // The other stream stays open, so its process has read a part of the log already when it resumes one.
  const streams = await Promise.all([open(writing), open(resuming)])
  await Promise.all(streams.map((one) => one.untilCount(1)))
  for (let n = 1; n <= 60; n++) {
    await add(n)
    const { id: lastEventId } = await streams[0].untilCount(1 + n)
    const resumed = await open(resuming, lastEventId)
    const [{ event, data }] = await Promise.all([resumed.untilCount(1), add(++n)])
    assert.deepEqual([event, data.content], ['item', n])
    resumed.close()
  }
  for (const one of streams) one.close()
})

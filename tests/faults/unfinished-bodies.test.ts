import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { limits } from '../../packages/contract/src/limits.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { makeTenant, type TestTenant } from '../support/call-api.ts'
import { childWith, residentBytes } from '../support/process-memory.ts'
import { until } from '../support/embedded-installation.ts'
import { requestText } from '../support/raw-http.ts'

const limitMiB = 256
const onLinux = { skip: process.platform !== 'linux' && 'memory is read from /proc', timeout: 60_000 }

let database: TestDatabase
let atrium: AtriumProcess
let spacePid: number
let tenant: TestTenant
before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_TRUST_PROXY: 'loopback' } })
  spacePid = await childWith(atrium.pid, 'space.mjs')
  tenant = await makeTenant(atrium.origin)
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
})

interface Begun {
  socket: Socket
  /** When all was written, or the server has ended the connection. */
  sent: Promise<void>
  /** All that comes until the end of the connection. */
  answer: Promise<string>
  isEnded(): boolean
}

/** Sends the beginning of a request from the address. */
function begin(line: string, from: string, headers: string[], part: string | Buffer, origin = atrium.origin): Begun {
  const socket = connect(Number(new URL(origin).port), 'localhost')
  socket.on('error', () => undefined)
  let text = ''
  let ended = false
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  const answer = new Promise<string>((resolve) =>
    socket.once('close', () => {
      ended = true
      resolve(text)
    }),
  )
  socket.write(requestText(line, [`X-Forwarded-For: ${from}`, 'Content-Type: application/json', ...headers]))
  const sent = Promise.race([new Promise<void>((resolve) => socket.write(part, () => resolve())), answer.then(() => undefined)])
  return { socket, sent, answer, isEnded: () => ended }
}

const spaces = Buffer.alloc(limits.bodyBytes - 1, ' ')

/** A body that lacks its last byte. */
const beginLarge = (line: string, from: string, origin?: string) =>
  begin(line, from, [`Content-Length: ${limits.bodyBytes}`], spaces, origin)

/** Makes a collection with a body that is sent in two parts. */
function beginCollection(from: string) {
  const headers = [`Authorization: Bearer ${tenant.publishable}`, 'Content-Length: 200002', 'Connection: close']
  const begun = begin('POST /v1/collections', from, headers, spaces.subarray(0, 200_000))
  return { ...begun, finish: () => void begun.socket.write('{}') }
}

async function growthMiB(run: () => Promise<void>, pid = atrium.pid): Promise<number> {
  const before = await residentBytes(pid)
  let most = before
  const timer = setInterval(() => {
    void residentBytes(pid).then((bytes) => (most = Math.max(most, bytes)))
  }, 50)
  await run().finally(() => clearInterval(timer))
  return Math.round((Math.max(most, await residentBytes(pid)) - before) / 1024 / 1024)
}

test('1,200 unfinished bodies of one address cost little memory, and nobody else notices them', onLinux, async (t) => {
  const slow = beginCollection('192.0.2.2')
  await slow.sent
  const all: Begun[] = []
  const grown = await growthMiB(async () => {
    for (const line of ['POST /v1/nothing', 'POST /v1/space'])
      for (let n = 0; n < 12; n++) {
        const some = Array.from({ length: 50 }, () => beginLarge(line, '192.0.2.1'))
        all.push(...some)
        await Promise.all(some.map(({ sent }) => sent))
      }
    for (const from of ['192.0.2.3', '192.0.2.1']) {
      const good = beginCollection(from)
      await good.sent
      good.finish()
      assert.match(await good.answer, /^HTTP\/1\.1 201 /, from)
    }
  })
  slow.finish()
  assert.match(await slow.answer, /^HTTP\/1\.1 201 /)
  const refused = all.filter(({ isEnded }) => isEnded())
  t.diagnostic(`the API grew by ${grown} MiB; ${refused.length} bodies were refused`)
  assert.ok(refused.length > 800)
  for (const one of refused) {
    const text = await one.answer
    assert.match(text, /^HTTP\/1\.1 503 /)
    assert.match(text, /^retry-after: \d+\r$/im)
    assert.match(text, /"unavailable"/)
  }
  for (const { socket } of all) socket.destroy()
  assert.ok(grown < limitMiB, `${grown} MiB`)
})

/** Sends a request to Space in two parts, which is refused once it has been read. */
function beginRefused(from: string) {
  const headers = ['Content-Length: 200002', 'Connection: close']
  const begun = begin('POST /space', from, headers, spaces.subarray(0, 200_000), atrium.spacesOrigin)
  return { ...begun, finish: () => void begun.socket.write('{}') }
}

test('Space: 1,200 unfinished bodies of one address cost little memory, and nobody else notices them', onLinux, async (t) => {
  const read = /^HTTP\/1\.1 400 [^]*"invalid_request"/
  const slow = beginRefused('192.0.2.2')
  await slow.sent
  const all: Begun[] = []
  const grown = await growthMiB(async () => {
    for (let n = 0; n < 24; n++) {
      const some = Array.from({ length: 50 }, () => beginLarge('POST /space', '192.0.2.1', atrium.spacesOrigin))
      all.push(...some)
      await Promise.all(some.map(({ sent }) => sent))
    }
    for (const from of ['192.0.2.3', '192.0.2.1']) {
      const good = beginRefused(from)
      await good.sent
      good.finish()
      assert.match(await good.answer, read, from)
    }
  }, spacePid)
  slow.finish()
  assert.match(await slow.answer, read)
  const refused = all.filter(({ isEnded }) => isEnded())
  t.diagnostic(`Space grew by ${grown} MiB; ${refused.length} bodies were refused`)
  assert.ok(refused.length > 800)
  for (const one of refused) {
    const text = await one.answer
    assert.match(text, /^HTTP\/1\.1 503 /)
    assert.match(text, /^retry-after: 5\r$/im)
    assert.match(text, /"error":"unavailable","reason":"too many bodies arrive at once"/)
  }
  for (const { socket } of all) socket.destroy()
  assert.ok(grown < limitMiB, `${grown} MiB`)
})

test('a body that its caller cuts off is not logged as a fault of the server', onLinux, async () => {
  const callWell = async () => {
    const good = beginCollection('192.0.2.5')
    await good.sent
    good.finish()
    assert.match(await good.answer, /^HTTP\/1\.1 201 /)
  }
  const headers = [`Authorization: Bearer ${tenant.publishable}`, 'Content-Length: 1000']
  const leaving = ['/v1/space', '/v1/collections'].map((path) => begin(`POST ${path}`, '192.0.2.5', headers, '{'))
  // When another call is answered, the server waits for the rest of these.
  await callWell()
  for (const { socket } of leaving) socket.destroy()
  for (const operation of ['callSpace', 'createCollection'])
    await until(
      async () => atrium.output().includes(`"operation":"${operation}","status":400`),
      `${operation} was refused`,
      20_000,
    )
  assert.doesNotMatch(atrium.output(), /"level":50/)
})

const chunks = Buffer.from('1\r\n \r\n'.repeat(limits.bodyBytes - 1))
const services = { 'the API': ['/v1/nothing', 'origin', 404], Space: ['/space', 'spacesOrigin', 400] } as const

for (const [service, [path, at, status]] of Object.entries(services))
  test(`${service}: a body in chunks of one byte takes little memory`, onLinux, async (t) => {
    const origin = atrium[at]
    const all: Begun[] = []
    const grown = await growthMiB(
      async () => {
        for (let n = 0; n < 8; n++) {
          all.push(begin(`POST ${path}`, '192.0.2.4', ['Transfer-Encoding: chunked'], chunks, origin))
          await all.at(-1)!.sent
        }
        // It answers, also while it has the beginnings.
        const res = await fetch(`${origin}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
        assert.equal(res.status, status)
      },
      service === 'Space' ? spacePid : atrium.pid,
    )
    t.diagnostic(`it grew by ${grown} MiB`)
    assert.deepEqual(
      all.filter(({ isEnded }) => isEnded()),
      [],
    )
    for (const { socket } of all) socket.destroy()
    assert.ok(grown < limitMiB, `${grown} MiB`)
  })

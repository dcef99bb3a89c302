import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { AgentIssuer } from '../agent-issuer/agent-issuer.ts'
import { AgentRoom } from './agent-room.ts'

const page = { etag: 'e', count: 1, entries: [], policy: 'open' }
const refusal = { error: 'not_authorized', reason: 'token: expired' }

const seen: { headers: IncomingHttpHeaders; body: any }[] = []
const answers: { status: number; body: object }[] = []
const server = createServer(async (req, res) => {
  let text = ''
  for await (const chunk of req) text += chunk
  seen.push({ headers: req.headers, body: JSON.parse(text) })
  const { status, body } = answers.shift() ?? { status: 200, body: page }
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
after(() => server.close())

function open(rateKey = 'session:ses_1') {
  const clocks: (string | null)[] = []
  let issued = 0
  const issuer: AgentIssuer = { issue: async () => `token ${++issued}`, followClock: (date) => void clocks.push(date) }
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const room = new AgentRoom(origin, issuer, { id: 'agt_1', name: 'Echo' }, { room: 'r', mk: 'k'.repeat(22) }, rateKey)
  seen.length = 0
  return { room, clocks }
}

test('the Space service gets a rate key for each agent, and no invented address', async () => {
  const { room } = open('session:ses_7')
  await room.poll({ sinceCount: 0 })
  assert.deepEqual(
    seen.map(({ headers }) => [headers['x-atrium-rate-key'], headers['x-forwarded-for']]),
    [['session:ses_7', undefined]],
  )
})

test('a token that is refused for its time is replaced by the clock of the service, and the call may pass until it succeeds', async () => {
  const { room, clocks } = open()
  answers.push({ status: 403, body: refusal })
  const error = await room.poll({ sinceCount: 0 }).catch((reason: unknown) => reason)
  assert.ok(error instanceof SpaceCallError)
  assert.ok(room.isPassing(error))
  assert.ok(Date.parse(clocks[0] ?? '') > 0)
  await room.poll({ sinceCount: 0 })
  assert.deepEqual(
    seen.map(({ body }) => body.idToken),
    ['token 1', 'token 2'],
  )
  assert.equal(room.isPassing(error), false, 'after a success it says nothing of now')
})

test('another refusal does not pass, and a fault of the service does', async () => {
  const { room } = open()
  for (const [status, reason, expected] of [
    [403, 'not_on_list', false],
    [503, 'x', true],
  ] as const) {
    answers.push({ status, body: { error: 'x', reason } })
    const error = await room.poll({ sinceCount: 0 }).catch((failure: unknown) => failure)
    assert.ok(error instanceof SpaceCallError)
    assert.equal(room.isPassing(error), expected, reason)
  }
})

test('who enters reads to the end, also where large lines fill more than a page', async () => {
  const { room } = open()
  const said = (seq: number) => ({ seq, id: `e${seq}`, at: '2026-11-20T10:00:00.000Z', author: {}, message: { text: 'x' } })
  const pages = [
    { etag: 'c', count: 200, entries: [] },
    { etag: 'b', count: 180, entries: [said(100), said(179)] },
    { etag: 'c', count: 200, entries: [said(180), said(199)] },
  ]
  for (const body of pages) answers.push({ status: 200, body: { ...body, policy: 'open' } })
  const { entries, since } = await room.enter((call) => call())
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    [100, 179, 180, 199],
  )
  assert.deepEqual(since, { sinceCount: 200, sinceEtag: 'c' })
  assert.deepEqual(
    seen.slice(1).map(({ body }) => [body.sinceCount, body.sinceEtag]),
    [
      [100, ''],
      [180, 'b'],
    ],
  )
})

test('what assertMay throws keeps the words back', async () => {
  const { room } = open()
  const refuse = () => {
    throw new Error('the lease is lost')
  }
  await assert.rejects(room.say({ text: 'x' }, refuse), /lease/)
  assert.equal(seen.length, 0)
})

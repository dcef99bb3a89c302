import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { openClientSealedRoom } from '../../../client/src/client-sealed-room.ts'
import { newRoomSecret } from '../../../client/src/new-room-secret.ts'
import { signCard } from '../../../room-client/src/room-device.ts'
import { hostedAgent } from '../../../room-client/src/testing/tampered-hosted-rooms.ts'
import {
  exported,
  type ListedStore,
  member,
  memberKey,
  openListed,
  ownerKey,
  room,
  runner,
  runnerKey,
} from '../../../room-client/src/testing/tampered-listed-rooms.ts'
import { startTestSpace, type TestSpace } from '../../../space/src/testing/test-space.ts'
import { checkClientSealedRoom, PAGE_LINES } from './client-sealed-room.ts'
import { Deadline } from './deadline.ts'
import { Downloads } from './download.ts'
import { Report } from './report.ts'
import { parseTarget } from './target.ts'

const audience = 'https://rooms.example'
let space: TestSpace
let served: readonly string[] = []
/** The real service, but for the lines of the room. */
const server = createServer(async (req, res) => {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const request = JSON.parse(Buffer.concat(chunks).toString()) as { op: string }
  const sealed = served.join('\n')
  const sha256 = createHash('sha256').update(sealed).digest('hex')
  const lines = { alg: 'A256GCM', bytes: Buffer.byteLength(sealed), sha256, recipients: ['room'], sealed }
  const { status, body } = request.op === 'sealed' ? { status: 200, body: lines } : await space.call(request.op, request)
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})

before(async () => {
  space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
  await openClientSealedRoom({ spaceUrl: `${space.origin}/space`, audience, room, mk: newRoomSecret().mk }).make()
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
after(async () => {
  server.close()
  await space.close()
})

async function verify(lines: readonly string[], keys: string): Promise<string> {
  served = lines
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { clientSealed } = parseTarget(`${origin}/space#${room}~${ownerKey}~${keys}`)
  assert.ok(clientSealed)
  const output: string[] = []
  const report = new Report((line) => output.push(line))
  const deadline = new Deadline(60)
  await checkClientSealedRoom(report, new Downloads(origin, deadline), clientSealed, deadline)
  assert.equal(report.failures, 0, output.join('\n'))
  return output.join('\n')
}

/** The owner consents to an agent, the agent writes, a member writes, and the agent leaves with a change of the key. */
async function stay(store: ListedStore): Promise<{ whileThere: number }> {
  const card = await signCard(runner, room, 'Lamplighter')
  await store.change({ devices: [ownerKey, memberKey, runnerKey], hosted: [{ agent: hostedAgent, device: runnerKey, card }] })
  await store.speak('h1', runner)
  await store.speak('h2', member)
  const whileThere = store.lines.length
  await store.rekey({ devices: [ownerKey, memberKey], revoked: [runnerKey], hosted: [] })
  await store.speak('h3', member)
  return { whileThere }
}
const STAY_LINES = 5

test('each line of the stay of a hosted agent may be the last of a page, or the first', async () => {
  const store = await openListed()
  // Of openListed: three lists, of which one has changed the key, an answer and two messages.
  const notMessages = 4
  for (let n = store.lines.length; n < PAGE_LINES - STAY_LINES; n++) await store.speak(`m-${n}`)
  for (let before = store.lines.length; before <= PAGE_LINES; before++) {
    const { lines, list, listHash, keys } = store
    store.lines = [...lines]
    const { whileThere } = await stay(store)
    const all = store.lines
    for (const link of [exported.member, '']) {
      const there = await verify(all.slice(0, whileThere), link)
      assert.match(there, new RegExp(`^proved .*the operator of ${hostedAgent} read along`, 'm'), `${before}`)
      const left = await verify(all, link)
      assert.match(left, /^proved .*the newest list lets the operator of no agent read along/m, `${before}`)
      assert.match(left, /it has signed 5 lists/, `${before}`)
      assert.match(left, /the key has changed 2 times/, `${before}`)
      if (link === '') continue
      const messages = before - notMessages
      assert.match(there, new RegExp(`open ${whileThere} lines: ${messages + 2} messages by 3 devices`), `${before}`)
      assert.match(left, new RegExp(`open ${all.length} lines: ${messages + 3} messages by 3 devices`), `${before}`)
    }
    Object.assign(store, { lines, list, listHash, keys })
    await store.speak(`m-${before}`)
  }
})

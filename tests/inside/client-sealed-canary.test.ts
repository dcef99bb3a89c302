import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { after, before, test, type TestContext } from 'node:test'
import { serveTestProvider, type ServedProvider } from '../../packages/identity/src/testing/serve-provider.ts'
import {
  answerInvitation,
  generateDevicePairs,
  type ListedRoom,
  openListedRoom,
  roomDeviceOf,
} from '../../packages/client/src/listed-room.ts'
import { newRoomSecret } from '../../packages/client/src/new-room-secret.ts'
import { openRoom } from '../../packages/client/src/open-room.ts'
import { accompanyAgent, launchAgent } from '../../packages/client/src/agent-visit.ts'
import { generateAgentKey, joinSealedSession, publicPartOf } from '../../packages/client/src/sealed-agent.ts'
import { exportPairs, type RoomDevice } from '../../packages/room-client/src/room-device.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { eventually, openAgency, startEndpoint } from '../support/remote-agents.ts'
import { formsFound } from '../support/find-secrets.ts'
import { dumpTables } from '../support/query-database.ts'

/** Linux shows the memory of a process to its owner, if the process may be traced. */
const skip = canReadMemory()
  ? false
  : 'the memory of other processes cannot be read here: run on Linux, as root or with ptrace_scope 0'

let database: TestDatabase
let idp: ServedProvider
let atrium: AtriumProcess
let metricsOrigin = ''
before(async () => {
  if (skip) return
  database = await createTestDatabase()
  idp = await serveTestProvider({ audience: 'spaces' })
  const metricsPort = await freePort()
  metricsOrigin = `http://127.0.0.1:${metricsPort}`
  const env = {
    ATRIUM_LOG: 'debug',
    ATRIUM_EGRESS: 'loopback',
    ATRIUM_METRICS_PORT: String(metricsPort),
    OIDC_ISSUER: idp.provider.issuer,
    OIDC_CLIENT_ID: 'spaces',
  }
  atrium = await startAtrium({ databaseUrl: database.url, space: true, env })
})
after(async () => {
  await atrium?.end('SIGKILL')
  idp?.close()
  await database?.drop()
})

const canary = (name: string) => `${name}-${randomBytes(12).toString('hex')}`

interface Person {
  email: string
  device: RoomDevice
  room: ListedRoom
  text: string
}

test(
  'three members and an agent leave no key, text or address in traffic, tables, logs, metrics and memory of the servers',
  { skip },
  async (t) => {
    const secrets = new Map<string, string>()
    const keep = (name: string, secret: string) => {
      secrets.set(name, secret)
      return secret
    }
    const traffic = recordTraffic(t)
    const more = { spaceUrl: `${atrium.origin}/v1/space`, audience: atrium.spacesOrigin }
    const identityProvider = { issuer: idp.provider.issuer, clientId: 'spaces' }
    const { room } = newRoomSecret()
    const members: Person[] = []

    /** With keys that can be exported, so that the test knows what to look for. */
    const newDevice = async (name: string) => {
      const pairs = await generateDevicePairs(true)
      const keys = await exportPairs(pairs)
      keep(`signing key of ${name}`, keys.slice(86, 129))
      keep(`encryption key of ${name}`, keys.slice(215))
      return roomDeviceOf(pairs)
    }
    const tokenOf = async (name: string, email: string, { signing }: RoomDevice) =>
      keep(
        `ID token of ${name}`,
        await idp.provider.sign({ email, sub: canary('sub'), name: canary(name), nonce: signing.thumbprint }),
      )
    const join = async (name: string) => {
      const email = keep(`address of ${name}`, `${canary(name)}@example.org`)
      const device = await newDevice(name)
      const idToken = await tokenOf(name, email, device)
      const owner = members[0]
      let joined: ListedRoom
      if (owner) {
        const invitation = keep(`invitation of ${name}`, await owner.room.invite(email))
        keep(`key in the invitation of ${name}`, invitation.slice(-43))
        joined = await answerInvitation(invitation, { ...more, identityProvider, device, idToken, name: canary('named') })
        assert.equal((await owner.room.admit()).length, 1)
      } else {
        joined = openListedRoom({ ...more, identityProvider, room, device })
        await joined.make()
        await joined.identify(idToken)
      }
      const text = keep(`text of ${name}`, canary('Good evening'))
      await joined.say(text)
      members.push({ email, device, room: joined, text })
    }
    for (const name of ['ada', 'grace', 'linus']) await join(name)
    const [ada, grace] = members
    assert.ok(ada && grace)

    // A remote agent: the platform launches it, and passes on what was sealed to its key.
    const agency = await openAgency(atrium.origin)
    const agentKey = await generateAgentKey()
    keep('key of the agent', agentKey.d)
    const endpoint = await startEndpoint(t, () => 204)
    const encryption_key = publicPartOf(agentKey)
    const { agentId } = await agency.register(endpoint.url, { encryption_key })
    const invite = async (who: string) => {
      const invitation = keep('invitation of the agent', await ada.room.invite(who))
      keep('key in the invitation of the agent', invitation.slice(-43))
      return invitation
    }
    const coupon = await agency.newCoupon()
    const visit = await launchAgent(agency.client, { ...ada.room, invite }, { id: agentId, encryption_key }, { coupon })
    const launch = await eventually(async () => endpoint.requests.length > 0 && endpoint.launchedSealed(), 'it is launched')
    const accompanied = accompanyAgent(agency.client, ada.room, visit, { lookEveryMs: 500 })
    const agent = await joinSealedSession(launch, { agentKey, device: await newDevice('agent'), name: canary('Dice') })
    await agent.say(keep('text of the agent', canary('At your service')))
    const read = await grace.room.read()
    assert.deepEqual(
      read.map(({ message, member: { standing } }) => [message.text, standing.ok && standing.email]),
      [...members.map(({ text, email }) => [text, email]), [secrets.get('text of the agent'), false]],
    )
    // The agent leaves, and the key changes.
    await agent.stop()
    assert.equal(await accompanied, 'stopped')
    await grace.room.say(keep('text after the agent', canary('It has gone')))
    await assert.rejects(agent.room.read(), { name: 'NotListedError' })
    assert.equal((await ada.room.read()).length, 5)

    const passed = [...traffic, JSON.stringify(endpoint.requests)].join('\n')
    assert.ok(passed.includes('"op":"append"') && passed.includes('session.launched_sealed'), 'traffic was recorded')
    for (const [name, secret] of secrets) {
      assert.deepEqual(formsFound(passed, secret), [], `${name}, in traffic`)
      if (/key/.test(name)) assert.deepEqual(formsFound(passed, Buffer.from(secret, 'base64url')), [], `${name}, decoded`)
    }
    // A room of the other kind, whose key the service does get: it shows that the search finds what is there.
    const classic = { room: canary('classic'), mk: canary('classic-key') }
    const held = openRoom({ spaceUrl: more.spaceUrl, ...classic })
    await held.say('Hello.')
    const holding = held.poll({ sinceCount: 1, waitMs: 20_000 }).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 500))

    const metrics = await (await fetch(`${metricsOrigin}/metrics`)).text()
    const stored = await dumpTables(database.url)
    const written = [stored, atrium.output(), metrics].join('\n')
    assert.ok(
      stored.includes(room) && stored.includes(encryption_key.x) && metrics.includes('atrium_'),
      'what is public is found',
    )
    for (const [name, secret] of secrets) {
      assert.deepEqual(formsFound(written, secret), [], name)
      if (/key/.test(name)) assert.deepEqual(formsFound(written, Buffer.from(secret, 'base64url')), [], `${name}, decoded`)
    }

    const processes = nodeProcesses(atrium.pid)
    assert.ok(processes.length >= 3, 'supervisor, API with worker, and Space')
    const needles = [...secrets].flatMap(([name, secret]) => formsOf(name, secret))
    const control = formsOf('control', classic.mk)
    let controls = 0
    for (const pid of processes) {
      const found = searchMemory(pid, [...needles, ...control])
      assert.deepEqual(
        [...found].filter((name) => name !== 'control'),
        [],
        `process ${pid}`,
      )
      if (found.has('control')) controls++
    }
    assert.ok(controls >= 1, 'the key of a room of the other kind is found')
    await Promise.race([holding, atrium.end('SIGKILL')])
  },
)

/** What the clients of this process send to any server, and what they get: addresses, headers and bodies. */
function recordTraffic(t: TestContext): string[] {
  const traffic: string[] = []
  const send = globalThis.fetch
  t.mock.method(globalThis, 'fetch', async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    traffic.push(`${request.method} ${request.url}`, JSON.stringify([...request.headers]), await request.clone().text())
    const response = await send(request)
    traffic.push(JSON.stringify([...response.headers]))
    const read = response.clone().text()
    read.then((body) => traffic.push(body)).catch(() => undefined)
    return response
  })
  return traffic
}

interface Needle {
  name: string
  bytes: Buffer
}

/** UTF-8 and UTF-16, hex, and base64 in each of three alignments and in both alphabets. */
function formsOf(name: string, secret: string): Needle[] {
  // A long secret, such as a token, is found by a part of it: V8 may hold it in pieces.
  const part = secret.length > 120 ? secret.slice(-100) : secret
  const variants = [Buffer.from(part)]
  if (/key/.test(name)) variants.push(Buffer.from(secret, 'base64url'))
  const texts = variants.flatMap((bytes) => [
    bytes.toString('hex'),
    ...[0, 1, 2].flatMap((shift) => {
      const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64url')
      const core = text.slice(shift === 0 ? 0 : 4, -2)
      return [core, core.replaceAll('-', '+').replaceAll('_', '/')]
    }),
  ])
  const forms = [...variants, Buffer.from(part, 'utf16le'), ...texts.map((text) => Buffer.from(text))]
  const distinct = new Map(forms.map((bytes) => [bytes.toString('latin1'), bytes]))
  return [...distinct.values()].map((bytes) => ({ name, bytes }))
}

/** The process and its descendants that run Node. */
function nodeProcesses(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      parents.set(Number(name), Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]))
    } catch {
      // It has ended.
    }
  }
  const found = [root]
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child)
  return found.filter((pid) => readlinkSync(`/proc/${pid}/exe`).endsWith('/node'))
}

const chunkBytes = 256 * 1024
const zeros = Buffer.alloc(chunkBytes)

/** Everything that the process could write to: more than a heap snapshot, because buffers and freed memory are in it. */
function searchMemory(pid: number, needles: readonly Needle[]): Set<string> {
  const found = new Set<string>()
  const longest = Math.max(...needles.map(({ bytes }) => bytes.length))
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const buffer = Buffer.alloc(chunkBytes)
  let searched = 0
  try {
    for (const [start, end] of writableRegions(pid)) {
      for (let at = start; at < end; at += chunkBytes - longest) {
        const length = readAt(memory, buffer, at, Math.min(chunkBytes, end - at))
        if (length === 0) break
        searched += length
        const chunk = buffer.subarray(0, length)
        // Most of what a process has reserved was never used.
        if (chunk.equals(zeros.subarray(0, length))) continue
        for (const { name, bytes } of needles) if (!found.has(name) && chunk.includes(bytes)) found.add(name)
      }
    }
  } finally {
    closeSync(memory)
  }
  assert.ok(searched > 10 * 1024 * 1024, `only ${searched} bytes of process ${pid} could be read`)
  return found
}

function* writableRegions(pid: number): Generator<[number, number]> {
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [, start = '', end = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
    if (start !== '') yield [Number.parseInt(start, 16), Number.parseInt(end, 16)]
  }
}

/** 0: the region is not there, or was never used. */
function readAt(memory: number, buffer: Buffer, at: number, length: number): number {
  try {
    return readSync(memory, buffer, 0, length, at)
  } catch {
    return 0
  }
}

function canReadMemory(): boolean {
  try {
    const parent = openSync(`/proc/${process.ppid}/mem`, 'r')
    closeSync(parent)
    return true
  } catch {
    return false
  }
}

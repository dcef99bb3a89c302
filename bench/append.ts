// Compares an append of a client-sealed room with a turn of a classic room: node bench/append.ts [rounds]. The Space
// service, PostgreSQL and the client are separate processes, and the requests are ready before the measurement. A turn
// is measured twice: with its text alone, and with a client_id, as every client sends it. An append always has a dedupe
// value, which does the same. Each round measures all of them, one after the other. The output has the median and range
// of the rate and of the processor time of a request. A quotient above 1 means that an append is cheaper.
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Agent, request } from 'node:http'
import { policyRecord, turnRecord } from '../packages/room-client/src/line-reader.ts'
import { type ClientKeys, deriveClientKeys, sealClientLine, signRequest } from '../packages/sealing/src/client-sealed.ts'
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded-postgres.ts'
import { median } from './goals.ts'
import { processorTimeOf } from './processor-time.ts'
import { runAtrium, startServer, type Server } from './servers.ts'

const [rounds = 5] = process.argv.slice(2).map(Number)
const audience = 'https://rooms.example'
const rooms = 64
const requests = 8_192
const atOnce = 32
const text = 'The lamps are lit.'

interface Cost {
  perSecond: number
  /** Of the Space service, in µs a request. */
  serviceUs: number
  /** With PostgreSQL. */
  allUs: number
}

const figures = ['perSecond', 'serviceUs', 'allUs'] as const

const ops = ['turn', 'turn with client_id', 'append'] as const

const folders = ['atrium-bench-', 'atrium-bench-space-'].map((name) => {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), name))
  chmodSync(folder, 0o711)
  return folder
})
const [databaseFolder = '', spaceFolder = ''] = folders
const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
const postgres = await startEmbeddedPostgres({ dataDir: databaseFolder, say: () => {} })
const databaseUrl = postgres.connectionString
let server: Server | undefined
try {
  runAtrium('migrate', databaseUrl)
  server = await startServer('space', { databaseUrl, folder: spaceFolder, env: { ATRIUM_SPACES_URL: audience } })
  await compare(`${server.origin}/space`)
} finally {
  agent.destroy()
  await server?.stop()
  await postgres.stop()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

async function compare(url: string): Promise<void> {
  const classic = Array.from({ length: rooms }, () => ({ room: name(), mk: randomBytes(32).toString('base64url') }))
  const sealed = await Promise.all(classic.map(({ mk }) => deriveClientKeys({ room: name(), mk })))
  const makes = await Promise.all(sealed.map(makeOf))
  await send(
    url,
    makes.map((body) => JSON.stringify(body)),
  )
  const times = requests / rooms
  const costs: Record<(typeof ops)[number], Cost>[] = []
  for (let round = -1; round < rounds; round++) {
    const turnsOf = (message: () => object) =>
      classic.flatMap((secret) => Array.from({ length: times }, () => ({ ...secret, op: 'turn', message: message() })))
    const bodies = {
      turn: turnsOf(() => ({ text })),
      'turn with client_id': turnsOf(() => ({ text, client_id: name() })),
      append: await Promise.all(sealed.flatMap((keys) => Array.from({ length: times }, () => appendTo(keys)))),
    }
    // Each op finds the caches as the op before left them, so the order rotates.
    const measured = new Map<string, Cost>()
    for (const i of ops.keys()) {
      const op = ops[(i + round + ops.length) % ops.length] ?? 'turn'
      measured.set(op, await measure(url, shuffled(bodies[op])))
    }
    // The first round warms up.
    if (round >= 0) costs.push(Object.fromEntries(measured) as (typeof costs)[number])
  }
  for (const op of ops)
    for (const of of figures)
      console.log(
        `${op}, ${of}: ${shown(
          costs.map((cost) => cost[op][of]),
          0,
        )}`,
      )
  for (const op of ['turn', 'turn with client_id'] as const)
    for (const of of figures) {
      const quotients = costs.map(({ [op]: turn, append }) =>
        of === 'perSecond' ? append[of] / turn[of] : turn[of] / append[of],
      )
      console.log(`append against ${op}, ${of}: ${shown(quotients, 2)}`)
    }
}

/** Requests to the same room are spread over the list, as they are where many rooms are in use. */
function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((one) => ({ one, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one)
}

function shown(values: number[], digits: number): string {
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`
}

async function measure(url: string, requests: readonly object[]): Promise<Cost> {
  const bodies = requests.map((request) => JSON.stringify(request))
  const before = used()
  const began = performance.now()
  await send(url, bodies)
  const seconds = (performance.now() - began) / 1000
  const after = used()
  const of = (part: keyof typeof after) => (after[part] - before[part]) / bodies.length
  return { perSecond: bodies.length / seconds, serviceUs: of('service'), allUs: of('all') }
}

function used(): { service: number; all: number } {
  const [service, all] = [processorTimeOf(spaceFolder), processorTimeOf(...folders)]
  if (service === undefined || all === undefined) throw new Error('this machine has no /proc')
  return { service, all }
}

async function makeOf(keys: ClientKeys): Promise<object> {
  const line = await sealClientLine(keys, { content: policyRecord })
  return signed(keys, { op: 'make', room: keys.room, access: keys.access, line })
}

async function appendTo(keys: ClientKeys): Promise<object> {
  const line = await sealClientLine(keys, { seen: { seq: 0, hash: 'A'.repeat(43) }, content: turnRecord({ id: name(), text }) })
  return signed(keys, { op: 'append', room: keys.room, line, dedupe: randomBytes(16).toString('base64url') })
}

type Request = Parameters<typeof signRequest>[1] & { access?: string; line: string; dedupe?: string }

async function signed(keys: ClientKeys, body: Request): Promise<object> {
  return { ...body, signature: await signRequest(keys, body, { audience }) }
}

/** Some at a time, over connections that stay open. Throws unless each is answered with 200. */
async function send(url: string, bodies: readonly string[]): Promise<void> {
  const left = [...bodies]
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let body = left.pop(); body !== undefined; body = left.pop()) await post(url, body)
    }),
  )
}

function post(url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(url, { method: 'POST', agent, headers }, (res) => {
      let answer = ''
      res.on('data', (chunk: Buffer) => (answer += chunk.toString()))
      res.on('end', () => (res.statusCode === 200 ? resolve() : reject(new Error(`${res.statusCode}: ${answer}`))))
      res.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function name(): string {
  return `r${randomBytes(8).toString('hex')}`
}

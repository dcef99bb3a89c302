import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, makeTenant, type TestTenant } from '../support/call-api.ts'
import { mapConcurrently } from '../support/map-concurrently.ts'
import { launchBody, makeAgent } from '../support/sessions.ts'
import { startSpaceRole, type SpaceRole } from '../support/space-role.ts'
import { childPids } from '../support/worker-pids.ts'

const sessionCount = 200
/** As long as the service holds a poll: each session polls once. */
const measuredMs = 25_000
const maxCpuShare = 0.05
const maxPolls = (sessionCount * measuredMs) / 10_000

interface Room {
  room: string
  mk: string
}

/** What the agents ask of the Space service. */
const polls = { held: 0, answered: 0 }

let database: TestDatabase
let between: Server
let space: SpaceRole
let atrium: AtriumProcess
let tenant: TestTenant
let agentId: string

before(async () => {
  database = await createTestDatabase()
  const port = await freePort()
  between = await startBetween()
  space = await startSpaceRole(database.url, `http://localhost:${port}`, originOf(between))
  atrium = await startAtrium({ databaseUrl: database.url, port, env: { ATRIUM_SPACES_URL: originOf(between) } })
  tenant = await makeTenant(atrium.origin)
  // An agent without an endpoint runs on the platform, and without a model it is the echo.
  agentId = await makeAgent(atrium.origin, tenant, { endpoint: undefined })
})

after(async () => {
  await atrium?.end('SIGKILL')
  await space?.end()
  between?.closeAllConnections()
  between?.close()
  await database?.drop()
})

test('200 idle sessions cost the worker less than 5 % of a core and one poll each in ten seconds', async (t) => {
  const launches = await mapConcurrently(Array.from({ length: sessionCount }), 4, launch)
  const fresh = launches.filter(({ isFresh }) => isFresh).map(({ room }) => room)
  await eventually(
    () => polls.held === sessionCount,
    60_000,
    () => `${polls.held} polls are held`,
  )

  // Each polls once before the measurement, so that it does not include compiling.
  const entered = polls.answered
  await eventually(
    () => polls.answered >= entered + sessionCount,
    60_000,
    () => `${polls.answered - entered} were asked again`,
  )

  const worker = childPids(atrium.pid, 'job-worker-main.ts')[0]!
  const before = { cpuMs: cpuMsOf(worker), answered: polls.answered }
  await delay(measuredMs)
  const share = (cpuMsOf(worker) - before.cpuMs) / measuredMs
  const answered = polls.answered - before.answered
  t.diagnostic(`${(share * 100).toFixed(1)} % of a core, ${answered} polls in ${measuredMs / 1_000} s`)
  assert.ok(share < maxCpuShare, `${(share * 100).toFixed(1)} % of a core`)
  assert.ok(answered < maxPolls, `${answered} polls`)

  const room = fresh[0]!
  const { id } = await ask('turn', { ...room, message: { text: 'Is anybody there?' } })
  const isAnswered = async () => {
    const { entries = [] } = await ask('poll', { ...room, sinceCount: 0 })
    return entries.some(({ author, message }) => author.kind === 'agent' && message.reply_to === id)
  }
  await eventually(isAnswered, 2_000, () => 'the first word in a fresh room is answered')
})

/** Every other time, into a room without messages. */
async function launch(_: unknown, at = launched++): Promise<{ room: Room; isFresh: boolean }> {
  const body = await launchBody(atrium.origin, tenant, agentId)
  const isFresh = at % 2 === 0
  if (!isFresh) await ask('turn', { ...body.room, message: { text: 'Before it came.' } })
  await askGood(atrium.origin, 'POST /v1/sessions', { key: tenant.secret, idempotencyKey: randomUUID(), body })
  return { room: body.room, isFresh }
}
let launched = 0

/** Asks the Space service itself, uncounted. */
async function ask(op: string, fields: object) {
  const res = await fetch(`${space.origin}/space`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ op, ...fields }),
  })
  assert.equal(res.status, 200)
  return (await res.json()) as { id?: string; entries?: { author: { kind: string }; message: { reply_to?: string } }[] }
}

/** A proxy between the agents and the Space service that counts requests. */
function startBetween(): Promise<Server> {
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.once('end', () => {
      const body = Buffer.concat(chunks)
      const isPoll = (JSON.parse(body.toString()) as { op: string }).op === 'poll'
      if (isPoll) polls.held++
      const { method, url: path, headers } = req
      const passed = request(space.origin + path, { method, headers }, (answer) => {
        res.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(res)
      })
      passed.once('error', () => res.destroy())
      res.once('close', () => {
        passed.destroy()
        if (!isPoll) return
        polls.held--
        polls.answered++
      })
      passed.end(body)
    })
  })
  return new Promise((resolve) => server.listen(0, () => resolve(server)))
}

function originOf(server: Server): string {
  return `http://localhost:${(server.address() as { port: number }).port}`
}

/** The processor time of the process so far, in user and kernel mode. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The third field comes after the name, which may contain spaces. utime and stime are the 14th and 15th, in
  // hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function eventually(holds: () => boolean | Promise<boolean>, withinMs: number, what: () => string): Promise<void> {
  for (const deadline = Date.now() + withinMs; !(await holds()); await delay(20)) assert.ok(Date.now() < deadline, what())
}

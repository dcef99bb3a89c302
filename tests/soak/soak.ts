// `npm run soak`: one installation under load for an hour, with slow readers, database restarts, killed workers and
// the fuzzer.
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { requestText } from '../support/raw-http.ts'
import { runFuzzer } from './fuzzing.ts'
import { startInstallation, type Installation } from './installation.ts'
import { openLoadWorld, runLoad, type LoadWorld } from './load.ts'
import { findUnexplained, type Disturbance } from './log-review.ts'
import { watchMemory } from './memory.ts'
import type { Tally } from './outcome.ts'
import { proveAll } from './proof.ts'
import { sealedRequest, startSlowReaders } from './slow-readers.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    readers: { type: 'string', default: '2000' },
    'database-restarts': { type: 'string', default: '20' },
    'worker-kills': { type: 'string', default: '5' },
  },
})
const totalMs = Number(values.minutes) * 60_000
const restarts = Number(values['database-restarts'])
const kills = Number(values['worker-kills'])
const reportIntervalMs = 60_000

let over = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (over = true))

const say = (text: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${text}`)

const installation = await startInstallation()
try {
  process.exitCode = await soak(installation)
} finally {
  await installation.end()
}

async function soak(installation: Installation): Promise<number> {
  const { origin, spacesOrigin } = installation
  const tally: Tally = { answered: 0, retried: 0, wrong: [] }
  const stopped = () => over
  const world = await openLoadWorld(origin, tally, stopped)
  const memory = watchMemory(installation)
  const load = runLoad(world)
  const fuzzer = runFuzzer(origin, tally, stopped)
  // The large answers exist once the load has run for a while.
  await delay(Math.min(15_000, totalMs / 10))
  const readers = startSlowReaders(Number(values.readers), readerTargets(world, origin, spacesOrigin))
  const disturbances: Disturbance[] = []
  const disturbed = disturb(installation, disturbances)
  const startedAt = Date.now()
  for (let reportedAt = startedAt; !over; await delay(1_000)) {
    if (Date.now() - startedAt >= totalMs) over = true
    if (Date.now() - reportedAt < reportIntervalMs) continue
    reportedAt = Date.now()
    const { open, cut } = readers.state()
    const processes = installation.processes().length
    say(
      `${tally.answered} answered, ${tally.retried} retried, ${tally.wrong.length} wrong; ${open} slow readers, ${cut} cut; ${processes} processes`,
    )
  }
  readers.stop()
  await disturbed
  const [fuzzed] = await Promise.all([fuzzer, load])
  memory.stop()
  say('the load has ended; proving')
  await delay(10_000)
  const wrong = await proveAll(installation, world)
  const unexplained = findUnexplained(installation.output(), disturbances)
  const { text, grew } = memory.report()
  const { sessions, paints, items, turns } = world.acknowledged
  const sum = (sets: Iterable<{ size: number }>) => [...sets].reduce((total, { size }) => total + size, 0)
  say(
    `acknowledged: ${sum(items.values())} items, ${sum(turns.values())} turns, sessions ${JSON.stringify(sessions)}, paints ${JSON.stringify(paints)}`,
  )
  say(`fuzzer: ${fuzzed} requests; disturbances: ${disturbances.length}; slow readers cut: ${readers.state().cut}`)
  console.log(`resident MiB over time\n${text}`)
  for (const [what, list] of Object.entries({
    'wrong answer': tally.wrong,
    'not proved': wrong,
    'unexplained log line': unexplained,
    grew,
  })) {
    say(`${what}: ${list.length}`)
    for (const line of list.slice(0, 20)) console.log(`  ${line.slice(0, 600)}`)
  }
  return tally.wrong.length + wrong.length + unexplained.length + grew.length === 0 ? 0 : 1
}

function readerTargets({ collections, rooms, tenant }: LoadWorld, origin: string, spacesOrigin: string) {
  const key = `Authorization: Bearer ${tenant.publishable}`
  const pages = collections.map(({ id, token }) =>
    requestText(`GET /v1/collections/${id}/items?limit=200`, [key, `X-Collection-Token: ${token}`]),
  )
  return [
    { port: Number(new URL(origin).port), requests: [...pages, requestText('GET /openapi.full.json')] },
    { port: Number(new URL(spacesOrigin).port), requests: rooms.map(({ room }) => sealedRequest(room)) },
  ]
}

/**
 * Ends the database and the job worker this many times within the first nine tenths, alternately by SIGKILL and by an
 * orderly stop.
 */
async function disturb(installation: Installation, disturbances: Disturbance[]): Promise<void> {
  const plan = [
    ...Array.from({ length: restarts }, (_, i) => ({
      at: ((i + 1) / (restarts + 1)) * totalMs * 0.9,
      what: 'database' as const,
    })),
    ...Array.from({ length: kills }, (_, i) => ({ at: ((i + 0.5) / kills) * totalMs * 0.9, what: 'worker' as const })),
  ].toSorted((a, b) => a.at - b.at)
  const startedAt = Date.now()
  for (const [n, { at, what }] of plan.entries()) {
    while (Date.now() - startedAt < at) {
      if (over) return
      await delay(200)
    }
    const pid = what === 'database' ? installation.postmasterPid() : jobWorkerPid(installation)
    const signal = what === 'worker' || n % 2 ? 'SIGKILL' : 'SIGINT'
    say(`${what}: ${signal} to ${pid ?? 'nobody: it is down'}`)
    disturbances.push({ at: Date.now(), what })
    if (pid) process.kill(pid, signal)
  }
}

function jobWorkerPid(installation: Installation): number | undefined {
  return installation.processes().find(({ name }) => /job-worker/.test(name))?.pid
}

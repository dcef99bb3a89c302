import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AtriumProcess } from '../support/atrium-process.ts'
import { call, type Answer } from '../support/call-api.ts'
import { attempts, type Attempt } from '../support/crash-attempts.ts'
import { openCrashWorld, type CrashWorld } from '../support/crash-world.ts'
import { queryDatabase } from '../support/query-database.ts'

/** A share of the points, and all commits. tests/long/crash-matrix.test.ts takes every point. */
const every = Number(process.env['ATRIUM_CRASH_EVERY'] ?? 3)

let world: CrashWorld
let atrium: AtriumProcess
before(async () => {
  world = await openCrashWorld()
  atrium = await world.start()
})
after(async () => {
  await atrium.end('SIGKILL')
  await world.close()
})

const send = ({ route, options, mark }: Attempt) => call(atrium.origin, route, { ...options, idempotencyKey: mark })

/**
 * Runs each operation once to learn its statements. Keys are looked up beforehand, because that read is not part of
 * the operation.
 */
async function learnStatements(): Promise<Map<string, string[]>> {
  const learnt = new Map<string, string[]>()
  for (const [name, prepare] of Object.entries(attempts)) {
    const attempt = await prepare(atrium.origin)
    await warm(attempt)
    world.proxy.takeStatements()
    assert.equal((await send(attempt)).status, attempt.status ?? 201, name)
    learnt.set(name, world.proxy.takeStatements())
  }
  return learnt
}

async function warm({ options: { key } }: Attempt): Promise<void> {
  if (key) await call(atrium.origin, 'POST /v1/collections', { key, body: 'not json' })
}

/** The point at which an operation is killed: a statement, counted from 1, before or after it. */
interface Point {
  nth: number
  when: 'before' | 'after'
}

function pointsOf(statements: string[]): Point[] {
  const points = statements.flatMap((_, i): Point[] => [
    { nth: i + 1, when: 'before' },
    { nth: i + 1, when: 'after' },
  ])
  return points.filter(({ nth }, i) => nth === statements.length || i % every === 0)
}

/** Each paused operation holds a transaction, and a process has only a few. The others must not wait for one. */
const atOnce = 9

/** Chooses a point of each of so many operations, first of those with the most points left. */
function takePoints(left: Map<string, Point[]>): Map<string, Point> {
  const most = [...left].toSorted(([, a], [, b]) => b.length - a.length).slice(0, atOnce)
  return new Map(
    most.flatMap(([name, points]) => {
      const point = points.shift()
      return point ? [[name, point] satisfies [string, Point]] : []
    }),
  )
}

interface Interrupted {
  what: string
  attempt: Attempt
  committed: boolean
}

/**
 * Brings every operation to its own point, each on its own connection, and kills the server. Returns what was done.
 */
async function killAt(points: Map<string, Point>, statements: Map<string, string[]>): Promise<Interrupted[]> {
  // All preparations come before the first pause, because the server waits only a limited time for a statement.
  const prepared = await Promise.all(
    [...points].map(async ([name, point]) => ({ name, point, attempt: await attempts[name]!(atrium.origin) })),
  )
  const interrupted: Interrupted[] = []
  const lost: Promise<unknown>[] = []
  for (const { name, point, attempt } of prepared) {
    const { nth, when } = point
    const what = `${name}, killed ${when} statement ${nth}`
    const own = statements.get(name)!
    interrupted.push({ what, attempt, committed: when === 'after' && nth === own.length })
    await warm(attempt)
    const stands = world.proxy.hold(point)
    const unanswered = assert.rejects(send(attempt), /no answer/, `${what}: no answer can come`)
    lost.push(unanswered)
    const stood = await Promise.race([stands, unanswered])
    const last = world.proxy.takeStatements().slice(-nth).join('\n')
    assert.equal(stood, own[nth - 1], `${what}, after\n${last}`)
  }
  await atrium.end('SIGKILL')
  await Promise.all(lost)
  // A held statement must not reach PostgreSQL on the release. The proxy may not know yet that its client is gone.
  await world.proxy.cut()
  await world.proxy.restore()
  world.proxy.release()
  return interrupted
}

async function assertOneEffect(name: string, attempt: Attempt, answers: Answer[]): Promise<void> {
  const [first, ...others] = answers as [Answer, ...Answer[]]
  assert.equal(first.status, attempt.status ?? 201, `${name}: ${first.text}`)
  for (const other of others)
    assert.deepEqual([other.status, other.text], [first.status, first.text], `${name}: the same answer each time`)
  const found = attempt.effects.map((effect) => queryDatabase(world.database.url, effect, [attempt.mark]))
  for (const [i, rows] of (await Promise.all(found)).entries())
    assert.equal(Number(Object.values(rows[0] ?? {})[0]), 1, `${name}: ${attempt.effects[i]}`)
  const used = await attempt.works(atrium.origin, first.data)
  assert.ok(used.status < 300, `${name}: what the answer gave works: ${used.status} ${used.text}`)
}

/** What a client saw done is done, and stays so. */
async function assertKept(attempt: Attempt, seen: Answer): Promise<void> {
  await assertOneEffect('acknowledged', attempt, [seen, await send(attempt)])
}

async function assertDoneOnce(point: string, attempt: Attempt, committed: boolean): Promise<void> {
  const retries = await Promise.all([send(attempt), send(attempt)])
  await assertOneEffect(point, attempt, [...retries, await send(attempt)])
  const stored = retries.filter(({ headers }) => headers['idempotency-status'] === 'stored').length
  const expected = committed ? 'was done, so that a retry replays' : 'was not done, so that one retry does it'
  assert.equal(stored, committed ? 0 : 1, `${point}: ${expected}`)
}

async function assertSoundBooks(point: string): Promise<void> {
  const { status, data } = await call(atrium.origin, 'GET /v1/operator/audit', { operator: true })
  assert.equal(status, 200, point)
  assert.deepEqual(data.findings, [], point)
}

test(
  'a kill before or after any statement loses nothing, does nothing twice, and a retry gives the one answer',
  { timeout: 900_000 },
  async (t) => {
    const statements = await learnStatements()
    for (const [name, own] of statements) {
      if (name === 'addItem') {
        assert.equal(own.length, 1, 'an item is added by one statement')
        continue
      }
      assert.ok(own.length >= 2, name)
      assert.equal(own.at(-1), 'commit', `${name} commits last`)
    }
    const points = new Map([...statements].map(([name, own]) => [name, pointsOf(own)]))
    let count = 0
    for (let kill = 0, now = takePoints(points); now.size > 0; kill++, now = takePoints(points)) {
      // In turn, because the kind of kill does not matter for what was done before it.
      const due = Object.values(attempts).filter((_, i) => (i + kill) % 3 === 0)
      const prepared = await Promise.all(due.map((prepare) => prepare(atrium.origin)))
      const acknowledged = await Promise.all(prepared.map(async (attempt) => [attempt, await send(attempt)] as const))
      const interrupted = await killAt(now, statements)
      count += interrupted.length
      atrium = await world.start()
      await assertSoundBooks(`kill ${kill}`)
      await Promise.all(acknowledged.map(([attempt, seen]) => assertKept(attempt, seen)))
      await Promise.all(interrupted.map(({ what, attempt, committed }) => assertDoneOnce(what, attempt, committed)))
      await assertSoundBooks(`kill ${kill}, and done`)
    }
    t.diagnostic(`${count} kill points`)
  },
)

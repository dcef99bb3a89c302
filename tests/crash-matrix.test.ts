import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../packages/server/src/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call, type Answer } from './support/call-api.ts'
import { attempts, type Attempt } from './support/crash-attempts.ts'
import { startPostgresProxy, type PostgresProxy } from './support/postgres-proxy.ts'
import { queryDatabase } from './support/query-database.ts'
import { startSpaceRole, type SpaceRole } from './support/space-role.ts'

let database: TestDatabase
let proxy: PostgresProxy
let space: SpaceRole
let atrium: AtriumProcess
let start: () => Promise<AtriumProcess>
before(async () => {
  database = await createTestDatabase()
  proxy = await startPostgresProxy(database.url)
  const port = await freePort()
  // Neither the Space service nor the job worker is cut off, so what they do goes past the proxy.
  space = await startSpaceRole(database.url, `http://localhost:${port}`)
  start = () => startAtrium({ databaseUrl: proxy.url, port, role: 'api', env: { ATRIUM_SPACES_URL: space.origin } })
  atrium = await start()
})
after(async () => {
  await space.end()
  await atrium.end('SIGKILL')
  await proxy.close()
  await database.drop()
})

const send = ({ route, options, mark }: Attempt) => call(atrium.origin, route, { ...options, idempotencyKey: mark })

/** Runs each once to learn its statements. Keys that were never seen are looked up first: that read is no part of the operation. */
async function learnStatements(): Promise<Map<string, string[]>> {
  const learnt = new Map<string, string[]>()
  for (const [name, prepare] of Object.entries(attempts)) {
    const attempt = await prepare(atrium.origin)
    await warm(attempt)
    proxy.takeStatements()
    assert.equal((await send(attempt)).status, 201, name)
    learnt.set(name, proxy.takeStatements())
  }
  return learnt
}

async function warm({ options: { key } }: Attempt): Promise<void> {
  if (key) await call(atrium.origin, 'POST /v1/collections', { key, body: 'not json' })
}

/** Brings every operation to its own point of the same number, each on a connection of its own, and kills the server there. Tells what was done. */
async function killAt(when: 'before' | 'after', nth: number, statements: Map<string, string[]>) {
  // All of it before the first one stands: the server waits for a statement only so long.
  const standing = await Promise.all(
    Object.entries(attempts)
      .filter(([name]) => nth <= statements.get(name)!.length)
      .map(async ([name, prepare]): Promise<[string, Attempt, boolean]> => {
        const isLast = nth === statements.get(name)!.length
        return [name, await prepare(atrium.origin), when === 'after' && isLast]
      }),
  )
  const lost: Promise<unknown>[] = []
  for (const [name, attempt] of standing) {
    await warm(attempt)
    const stands = proxy.hold({ nth, when })
    const unanswered = assert.rejects(send(attempt), /no answer/, `${name} ${when} ${nth}: no answer can come`)
    lost.push(unanswered)
    const stood = await Promise.race([stands, unanswered])
    const last = proxy.takeStatements().slice(-nth).join('\n')
    assert.equal(stood, statements.get(name)![nth - 1], `${name}: statement ${nth}, after\n${last}`)
  }
  await atrium.end('SIGKILL')
  await Promise.all(lost)
  proxy.release()
  return standing
}

async function assertOneEffect(name: string, attempt: Attempt, answers: Answer[]): Promise<void> {
  const [first, ...others] = answers as [Answer, ...Answer[]]
  assert.equal(first.status, 201, `${name}: ${first.text}`)
  for (const other of others)
    assert.deepEqual([other.status, other.text], [first.status, first.text], `${name}: the same answer each time`)
  const found = attempt.effects.map((effect) => queryDatabase(database.url, effect, [attempt.mark]))
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
      assert.ok(own.length >= 2, name)
      if (name !== 'addItem') assert.equal(own.at(-1), 'commit', `${name} commits last`)
    }
    const longest = Math.max(...[...statements.values()].map((own) => own.length))
    let points = 0
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; nth <= longest; nth++) {
        const point = `killed ${when} statement ${nth}`
        // In turn, since one kill is like another to what was done before it.
        const due = Object.values(attempts).filter((_, i) => (i + nth) % 3 === 0)
        const prepared = await Promise.all(due.map((prepare) => prepare(atrium.origin)))
        const acknowledged = await Promise.all(prepared.map(async (attempt) => [attempt, await send(attempt)] as const))
        const standing = await killAt(when, nth, statements)
        points += standing.length
        atrium = await start()
        await assertSoundBooks(point)
        await Promise.all(acknowledged.map(([attempt, seen]) => assertKept(attempt, seen)))
        await Promise.all(standing.map(([name, attempt, committed]) => assertDoneOnce(`${name} ${point}`, attempt, committed)))
        await assertSoundBooks(`${point}, and done`)
      }
    }
    t.diagnostic(`${points} kill points`)
  },
)

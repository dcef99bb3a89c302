import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startEmbeddedPostgres } from '../../packages/server/src/db/embedded-postgres.ts'
import { startAtrium } from './atrium-process.ts'
import { call, makeCollection, makeTenant, type Answer } from './call-api.ts'
import { queryDatabase } from './query-database.ts'

interface HangTest {
  /** Load before the measurement, until memory no longer grows by itself. */
  warmMs: number
  hangMs: number
  perSecond: number
  /** The time limits where the machine may have other work: of an answer, and from the end of the hang until all goes well. */
  busy?: { answerMs: number; recoveryMs: number }
}

interface Told {
  /** The identity of each request, to find it in the table. */
  mark: string | undefined
  startedAtMs: number
  tookMs: number
  /** undefined: the connection failed, or there was no answer for half a minute. */
  answer: Answer | undefined
}

const maxGrowthBytes = 50 * 1024 * 1024
const recoveryMs = 2_000

/**
 * Stops PostgreSQL with all its processes under load. Every caller must get a true answer in time, and nothing may
 * grow.
 */
export function testHang({ warmMs, hangMs, perSecond, busy }: HangTest): void {
  const title = `PostgreSQL hangs for ${hangMs / 1_000} s under ${perSecond} requests/s`
  test(`${title}: answers in time, each of them true, memory bounded, service soon after`, async (t) => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'atrium-hang-'))
    // PostgreSQL's own user has to pass.
    await chmod(dataDir, 0o711)
    const postgres = await startEmbeddedPostgres({ dataDir, say: () => undefined, fsync: false })
    t.after(async () => {
      await postgres.stop()
      await rm(dataDir, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
    })
    const atrium = await startAtrium({ databaseUrl: postgres.connectionString, space: true })
    t.after(() => atrium.end('SIGKILL'))
    const load = await makeLoad(atrium)

    const warmUntilMs = performance.now() + warmMs
    await runLoad(load, perSecond, () => performance.now() > warmUntilMs)
    const before = await memoryOf(atrium.pid)
    const pids = await postgresPids(dataDir)
    let endsLoadAtMs = Infinity
    const hanging = runLoad(load, perSecond, () => performance.now() > endsLoadAtMs)
    const most = new Map(before)
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    try {
      const endsAtMs = performance.now() + hangMs
      while (performance.now() < endsAtMs) {
        await delay(250)
        for (const [pid, bytes] of await memoryOf(atrium.pid)) most.set(pid, Math.max(bytes, most.get(pid) ?? 0))
      }
    } finally {
      // The first one, which forks the others, last.
      for (const pid of pids.toReversed()) process.kill(pid, 'SIGCONT')
    }
    const resumedAtMs = performance.now()
    endsLoadAtMs = resumedAtMs + recoveryMs + 2_000
    const told = await hanging
    const listAfter = (fromMs: number) => told.filter(({ startedAtMs }) => startedAtMs > resumedAtMs + fromMs)
    let after = listAfter(recoveryMs)
    if (busy && after.some(isRefused)) {
      await delay(Math.max(0, resumedAtMs + busy.recoveryMs - performance.now()))
      const endsAgainAtMs = performance.now() + 2_000
      told.push(...(await runLoad(load, perSecond, () => performance.now() > endsAgainAtMs)))
      after = listAfter(busy.recoveryMs)
    }
    const silent = told.filter(({ answer }) => answer === undefined)
    assert.deepEqual(silent.slice(0, 3), [], `${silent.length} of ${told.length} got no answer`)

    const slowest = Math.max(...told.map(({ tookMs }) => tookMs))
    const growth = [...most].map(([pid, bytes]) => bytes - (before.get(pid) ?? bytes))
    t.diagnostic(`${told.length} answers, the slowest after ${Math.round(slowest)} ms; ${after.length} after the recovery`)
    t.diagnostic(`memory of the processes grew by ${growth.map((bytes) => Math.round(bytes / 1024 / 1024)).join(', ')} MB`)
    assert.ok(slowest < (busy?.answerMs ?? 10_000), `an answer took ${Math.round(slowest)} ms`)
    const strange = told.filter(({ answer }) => answer!.status >= 300 && answer!.status !== 503)
    assert.deepEqual(strange.slice(0, 3), [], 'nothing but 2xx and 503')
    const unable = told.filter(({ answer }) => answer!.status === 503)
    assert.ok(unable.length > 100 && unable.every(({ answer }) => Number(answer!.headers['retry-after']) >= 1))
    assert.deepEqual(
      after.filter(isRefused).map(({ answer }) => answer!.text),
      [],
      'after the hang all goes well',
    )
    assert.ok(after.length > 50)
    for (const bytes of growth) assert.ok(bytes < maxGrowthBytes, `memory grew by ${Math.round(bytes / 1024 / 1024)} MB`)
    await assertTrue(postgres.connectionString, told)
  })
}

const isRefused = ({ answer }: Told) => answer === undefined || answer.status >= 300

type Send = (mark: string) => { marked: boolean; sent: Promise<Answer> }

async function makeLoad({ origin, spacesOrigin }: { origin: string; spacesOrigin: string }): Promise<Send[]> {
  const { publishable: key } = await makeTenant(origin)
  const { id, token } = await makeCollection(origin, key)
  const path = `/v1/collections/${id}`
  const room = { room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') }
  const timeoutMs = 30_000
  const item = (author: string) => ({ type: 'message', content: 1, author })
  const post = (author: string, more: object = {}) =>
    call(origin, `POST ${path}/items`, { key, timeoutMs, body: item(author), ...more })
  const picture = (title: string) => ({ kind: 'image', url: 'https://pictures.example/a.png', title })
  return [
    (mark) => ({ marked: true, sent: post(mark) }),
    (mark) => ({ marked: true, sent: post(mark, { idempotencyKey: randomUUID() }) }),
    (mark) => ({ marked: true, sent: call(origin, `POST ${path}/artifacts`, { key, token, timeoutMs, body: picture(mark) }) }),
    () => ({ marked: false, sent: call(origin, `GET ${path}`, { key, timeoutMs }) }),
    () => ({
      marked: false,
      sent: call(spacesOrigin, 'POST /space', { timeoutMs, body: { op: 'turn', ...room, message: { text: 'Still there?' } } }),
    }),
  ]
}

/** Sends at fixed times, whether or not answers arrive. */
async function runLoad(load: Send[], perSecond: number, isOver: () => boolean): Promise<Told[]> {
  const told: Promise<Told>[] = []
  const beganAtMs = performance.now()
  while (!isOver()) {
    const due = ((performance.now() - beganAtMs) / 1_000) * perSecond
    while (told.length < due) {
      const startedAtMs = performance.now()
      const name = randomUUID()
      const { marked, sent } = load[told.length % load.length]!(name)
      const mark = marked ? name : undefined
      const tell = (answer: Answer | undefined) => ({ mark, startedAtMs, tookMs: performance.now() - startedAtMs, answer })
      told.push(sent.then(tell, () => tell(undefined)))
    }
    await delay(10)
  }
  return Promise.all(told)
}

/** Requests that succeeded have their rows, and requests that were refused with a known outcome have none. */
async function assertTrue(databaseUrl: string, told: Told[]): Promise<void> {
  const rows = await queryDatabase<{ mark: string }>(
    databaseUrl,
    'select author as mark from items where author is not null union select title from artifacts where title is not null',
  )
  const stored = new Set(rows.map(({ mark }) => mark))
  for (const { mark, answer } of told) {
    if (mark === undefined) continue
    if (answer!.status < 300) assert.ok(stored.has(mark), `${answer!.text} was answered, and is not there`)
    else if (JSON.parse(answer!.text).error.reason !== 'outcome_unknown')
      assert.ok(!stored.has(mark), `${answer!.text} was answered, and it happened`)
  }
}

/** The postmaster first. */
async function postgresPids(dataDir: string): Promise<number[]> {
  const files = await readdir(dataDir, { recursive: true })
  const pidFile = files.find((name) => path.basename(name) === 'postmaster.pid')
  assert.ok(pidFile, 'PostgreSQL runs')
  const postmaster = Number((await readFile(path.join(dataDir, pidFile), 'utf8')).split('\n', 1)[0])
  return [postmaster, ...(await childrenOf(postmaster))]
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const children = text.trim().split(' ').filter(Boolean).map(Number)
  return [...children, ...(await Promise.all(children.map(childrenOf))).flat()]
}

/** The resident bytes of the process and its descendants. */
async function memoryOf(pid: number): Promise<Map<number, number>> {
  const memory = new Map<number, number>()
  for (const one of [pid, ...(await childrenOf(pid))]) {
    const status = await readFile(`/proc/${one}/status`, 'utf8').catch(() => '')
    const kilobytes = Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1])
    if (kilobytes > 0) memory.set(one, kilobytes * 1024)
  }
  return memory
}

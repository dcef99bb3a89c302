import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { encodeBundle } from '@atrium/log/bundle'
import { formatVerifier, makeVerifier, signatureTypes } from '@atrium/log/note'
import { ed25519PublicKey, signCheckpoint } from '@atrium/log/signing'
import { makeEntries, StoredLog } from '@atrium/log/testing/stored-log'
import { parseTilePath, tileWidth } from '@atrium/log/tiles'
import { runAtrium, type AtriumRun } from '../../../../tests/support/run-atrium.ts'
import { followLog, Misbehaviour, notFollowed, type Followed } from './follow-log.ts'
import { readFollowed, writeFollowed } from './monitor-state.ts'
import { Webhook } from './webhook.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-monitor-'))
after(() => rmSync(folder, { recursive: true }))

const seed = Buffer.alloc(32, 3)
const origin = 'log.example.com/log'
const logKey = makeVerifier(origin, signatureTypes.note, ed25519PublicKey(seed))

/** Serves a log. Returns its address. */
async function serve(answer: (path: string, res: ServerResponse) => void): Promise<string> {
  const server = createServer((req, res) => answer(req.url!, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function runMonitor(...args: string[]): AtriumRun {
  const run = runAtrium(['monitor', ...args, '--vkey', formatVerifier(logKey)], {})
  after(() => run.kill('SIGKILL'))
  return run
}

/** Waits for a condition, as long as the monitor runs. */
async function until(run: AtriumRun, isTrue: () => boolean): Promise<void> {
  while (!isTrue()) assert.equal(await run.ended(50), undefined, run.output())
}

/** Looks once at a log, as a process of its own. */
async function lookOnce(url: string, state: string) {
  const run = runMonitor(url, '--state', state, '--once')
  const code = await run.ended(60_000)
  const lines = run.output().trim().split('\n')
  return { code, reports: lines.map((line) => JSON.parse(line)) }
}

test('a monitor neither waits for the end of an endless log nor keeps all that it reports of it', async () => {
  const size = 2 ** 50
  const head = signCheckpoint({ origin, size, root: Buffer.alloc(32) }, seed)
  const asked: string[] = []
  const url = await serve((path, res) => {
    asked.push(path)
    res.end(path === '/checkpoint' ? head : encodeBundle(Array.from({ length: tileWidth }, () => Buffer.alloc(0))))
  })
  const state = join(folder, 'endless.json')
  for (const [from, to] of [
    [0, 1_024],
    [1_024, 2_048],
  ] as const) {
    const { code, reports } = await lookOnce(url, state)
    assert.equal(code, 1)
    const last = reports.pop()
    assert.deepEqual([last.event, last.message], ['unreachable', `${to} of ${size} entries are read; the next look continues`])
    assert.deepEqual([reports.length, reports[0].event, reports[0].index], [to - from, 'unexpected_entry', from])
  }
  assert.equal(asked.length, 2 + 2_048 / tileWidth)
  assert.equal(JSON.parse(readFileSync(state, 'utf8')).size, 0, 'nothing is proved yet')
})

test('a monitor continues where a limit on requests ended its look, and reports each entry once', async () => {
  const log = makeLog(1_000)
  const checkpoint = signCheckpoint({ origin, size: log.size, root: log.root() }, seed)
  const asked: string[] = []
  let limited: number | undefined
  let retryAfter = '86400'
  const url = await serve((path, res) => {
    asked.push(path)
    if (path === '/checkpoint') return res.end(checkpoint)
    const { index, width } = parseTilePath(path.slice(1))!
    if (limited !== undefined && index >= limited) {
      if (retryAfter === '1') limited = undefined
      return res.writeHead(429, { 'retry-after': retryAfter }).end()
    }
    return res.end(encodeBundle(log.entries.slice(index * tileWidth, index * tileWidth + width)))
  })
  const state = join(folder, 'limited.json')
  const bundles = () =>
    asked
      .splice(0)
      .filter((path) => path !== '/checkpoint')
      .map((path) => parseTilePath(path.slice(1))?.index)
  const indexesOf = (reports: { index?: number }[]) => reports.flatMap(({ index }) => index ?? [])

  limited = 2
  const first = await lookOnce(url, state)
  assert.equal(first.code, 1)
  assert.match(first.reports.at(-1).message, /answered 429; 512 of 1000 entries are read; the next look continues$/)
  assert.deepEqual(bundles(), [0, 1, 2])
  // This limit ends within the look, so the monitor waits.
  retryAfter = '1'
  const second = await lookOnce(url, state)
  assert.equal(second.reports.at(-1).event, 'grown')
  assert.deepEqual(bundles(), [2, 2, 3])
  assert.deepEqual(
    indexesOf([...first.reports, ...second.reports]),
    Array.from({ length: 1_000 }, (_, i) => i),
  )
})

const makeLog = (size: number, change?: number) => {
  const log = new StoredLog()
  log.append(makeEntries(size).map((entry, i) => (i === change ? Buffer.from('changed') : entry)))
  return log
}

/** Follows a log, two bundles for each look. `seen` are the indexes of the entries. */
async function lookAt(log: StoredLog, last: Followed) {
  const checkpoint = signCheckpoint({ origin, size: log.size, root: log.root() }, seed)
  let bundles = 0
  const read = async (path: string) => {
    if (path === 'checkpoint') return Buffer.from(checkpoint)
    bundles++
    const { index, width } = parseTilePath(path)!
    return encodeBundle(log.entries.slice(index * tileWidth, index * tileWidth + width))
  }
  const seen: number[] = []
  const { followed } = await followLog(
    { read, logKeys: [logKey] },
    last,
    ({ index }) => seen.push(index),
    () => bundles >= 2,
  )
  const path = join(folder, 'followed.json')
  await writeFollowed(path, followed)
  return { followed: await readFollowed(path), seen }
}

test('a log that is longer than one look is followed over several, each entry once', async () => {
  const first = await lookAt(makeLog(1_000), notFollowed)
  assert.deepEqual([first.followed.size, first.followed.reading?.at], [0, 512])
  // It has grown meanwhile. The head that was being read is reached first.
  const second = await lookAt(makeLog(1_100), first.followed)
  assert.deepEqual([second.followed.size, second.followed.reading?.at, second.followed.reading?.head.size], [1_000, 1_000, 1_100])
  const third = await lookAt(makeLog(1_100), second.followed)
  assert.deepEqual([third.followed.size, third.followed.reading], [1_100, undefined])
  assert.deepEqual(
    [...first.seen, ...second.seen, ...third.seen],
    Array.from({ length: 1_100 }, (_, i) => i),
  )
})

test('an interrupted look proves what the log signed before it', async () => {
  const { followed } = await lookAt(makeLog(1_000), notFollowed)
  const isA = (kind: Misbehaviour['kind']) => (error: unknown) => error instanceof Misbehaviour && error.kind === kind
  await assert.rejects(lookAt(makeLog(900), followed), isA('rolled_back'))
  // Another tree of the same size, and one that has another entry in a place that is read before or after the break.
  for (const changed of [1, 600]) await assert.rejects(lookAt(makeLog(1_000, changed), followed), isA('forked'))
  await assert.rejects(lookAt(makeLog(1_100, 600), followed), isA('forked'))
})

/** Serves a log of so many entries, each of an unknown type. */
function serveEntries(count: number, onLook: () => unknown = () => undefined): Promise<string> {
  const log = makeLog(count)
  const checkpoint = signCheckpoint({ origin, size: log.size, root: log.root() }, seed)
  return serve((path, res) => {
    if (path === '/checkpoint') onLook()
    res.end(path === '/checkpoint' ? checkpoint : encodeBundle(log.entries))
  })
}

test('of two monitors with one state, the second ends', async () => {
  const url = await serveEntries(3)
  const state = join(folder, 'shared.json')
  const first = runMonitor(url, '--state', state)
  await until(first, () => existsSync(state))
  const second = runMonitor(url, '--state', state, '--once')
  assert.equal(await second.ended(60_000), 1)
  assert.equal(second.output(), `atrium: ${state} is in use by another process of atrium\n`)
  first.kill('SIGKILL')
  await first.ended(10_000)
  const third = runMonitor(url, '--state', state, '--once')
  assert.deepEqual([await third.ended(60_000), third.output()], [0, ''], 'the first has seen everything')
})

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`a monitor that ends by ${signal} leaves no lock`, async () => {
    const data = mkdtempSync(join(folder, 'signal-'))
    const run = runMonitor(await serveEntries(3), '--state', join(data, 'state.json'))
    await until(run, () => existsSync(join(data, 'state.json')))
    assert.equal(readdirSync(data).length, 2)
    run.kill(signal)
    assert.equal(await run.ended(10_000), code)
    assert.deepEqual(readdirSync(data), ['state.json'])
  })
}

test('a lock that cannot be asked is named, and a socket that was left without a name is removed', async () => {
  const url = await serveEntries(3)
  const data = mkdtempSync(join(folder, 'unasked-'))
  const state = join(data, 'state.json')
  const first = runMonitor(url, '--state', state)
  await until(first, () => existsSync(state))
  const lock = readdirSync(data).find((name) => name !== 'state.json') ?? ''
  const [old, young] = ['.new-0123456789abcdef', '.new-0123456789abcdee']
  first.kill('SIGKILL')
  await first.ended(10_000)
  renameSync(join(data, lock), join(data, old))
  utimesSync(join(data, old), 0, 0)
  const second = runMonitor(url, '--state', state)
  await until(second, () => readdirSync(data).some((name) => name.startsWith('.lock-')) && !existsSync(join(data, old)))
  second.kill('SIGKILL')
  await second.ended(10_000)
  const other = readdirSync(data).find((name) => name !== 'state.json') ?? ''
  // It may be about to get its name.
  renameSync(join(data, other), join(data, young))
  // Root never gets EACCES from a socket. A link to itself cannot be connected to either.
  symlinkSync(lock, join(data, lock))
  const third = runMonitor(url, '--state', state, '--once')
  assert.equal(await third.ended(60_000), 1)
  const said = `atrium: ${state} may be in use by another process of atrium (ELOOP): if none runs, remove ${join(data, lock)}\n`
  assert.equal(third.output(), said)
  assert.deepEqual(readdirSync(data).toSorted(), [lock, young, 'state.json'])
})

test('that there is no folder for temporary files is not reported as a fault of the folder to lock', async () => {
  const data = join(folder, 'long'.repeat(30))
  mkdirSync(data)
  const args = ['monitor', 'http://127.0.0.1:9', '--state', join(data, 'state.json'), '--vkey', formatVerifier(logKey)]
  const run = runAtrium(args, { TMPDIR: '/dev/null' })
  assert.equal(await run.ended(60_000), 1)
  assert.equal(run.output(), `atrium: /dev/null cannot be written (ENOTDIR): the lock of ${data} needs a link there\n`)
})

/** A webhook. While `isSilent` is set, it does not answer. */
async function openWebhook(status = 200) {
  const silent: (() => void)[] = []
  const webhook = {
    url: '',
    bodies: [] as { event: string; index?: number }[],
    isSilent: false,
    answerAll: () => undefined as void,
  }
  webhook.answerAll = () => {
    webhook.isSilent = false
    for (const answer of silent.splice(0)) answer()
  }
  const server = createServer((req, res) => {
    void (async () => {
      webhook.bodies.push(JSON.parse(await text(req)))
      if (webhook.isSilent) silent.push(() => res.writeHead(status).end())
      else res.writeHead(status).end()
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  webhook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return webhook
}

test('a webhook that does not answer holds up no look, and gets the reports in order', async () => {
  const webhook = await openWebhook()
  webhook.isSilent = true
  let looks = 0
  const url = await serveEntries(20, () => looks++)
  const state = join(folder, 'webhook.json')
  const run = runMonitor(url, '--state', state, '--webhook', webhook.url, '--interval', '1')
  await until(run, () => looks >= 3)
  assert.ok(webhook.bodies.length < 20, `${webhook.bodies.length} reports are sent`)
  assert.ok(!existsSync(state), 'reports that a crash would lose are made again')
  webhook.answerAll()
  await until(run, () => existsSync(state))
  assert.deepEqual(
    webhook.bodies.map(({ event, index }) => index ?? event),
    [...Array.from({ length: 20 }, (_, i) => i), 'grown'],
  )
})

test('a report that the webhook rejects is on standard error', async () => {
  const webhook = await openWebhook(500)
  const run = runMonitor(await serveEntries(2), '--state', join(folder, 'rejected.json'), '--webhook', webhook.url, '--once')
  assert.equal(await run.ended(60_000), 1)
  assert.equal(webhook.bodies.length, 3)
  const unsent = run
    .output()
    .split('\n')
    .filter((line) => line.startsWith('the webhook answered 500; not sent: {"log":'))
  assert.equal(unsent.length, 3, run.output())
})

test('a webhook that is too slow gets what is sent in time, and a bounded number of reports waits for it', async (t) => {
  const printed: string[] = []
  t.mock.method(console, 'error', (line: string) => printed.push(line))
  const server = await openWebhook()
  server.isSilent = true
  const webhook = new Webhook(server.url)
  for (let index = 0; index < 2_001; index++) webhook.add({ event: 'unexpected_entry', index })
  assert.match(printed[0]!, /^2000 reports wait for the webhook; not sent: .*"index":2000/)
  const ended = webhook.end(1)
  setTimeout(server.answerAll, 100)
  await ended
  assert.equal(server.bodies.length, 1)
  assert.equal(printed.length, 2_000)
  assert.match(printed.at(-1)!, /^the webhook was too slow; not sent: .*"index":1999/)
})

test('a monitor whose state cannot be written goes on, and writes it when it can', async () => {
  const place = mkdtempSync(join(folder, 'unwritten-'))
  const state = join(place, 'unwritten.json')
  let isBlocked = true
  // A folder in the place of the file, made after the monitor has read that there is none.
  const url = await serveEntries(3, () => isBlocked && mkdirSync(state, { recursive: true }))
  const once = runMonitor(url, '--state', state, '--once')
  assert.equal(await once.ended(60_000), 1)
  assert.match(once.output(), /^what was seen is not remembered: \S+unwritten\.json cannot be written: EISDIR/m)
  assert.deepEqual(readdirSync(place), ['unwritten.json'], 'no draft stays')
  rmdirSync(state)
  const run = runMonitor(url, '--state', state, '--interval', '1')
  await until(run, () => (run.output().match(/not remembered/g) ?? []).length >= 2)
  isBlocked = false
  rmdirSync(state)
  await until(run, () => existsSync(state))
})

test('a wrong option of a monitor is one line that names it', async () => {
  const url = 'http://127.0.0.1:1'
  const state = join(folder, 'options.json')
  for (const [args, says] of [
    [
      [url, '--state', state, '--expected', join(folder, 'missing.txt')],
      /^atrium: --expected cannot be read: ENOENT.*missing\.txt'\n$/,
    ],
    [[url, '--state', join(folder, 'missing', 'state.json')], /^atrium: \S+missing cannot be locked \(E\w+\): .*\n$/],
    [[url, '--state', folder], /^atrium: \S+ cannot be read \(EISDIR\)\n$/],
    [['log.example.com', '--state', state], /^error: .*'log\.example\.com' is invalid for argument 'url'/],
    [[url, '--state', state, '--webhook', 'alerts'], /^error: option '--webhook <url>' argument 'alerts' is invalid/],
  ] as const) {
    const run = runMonitor(...args, '--once')
    assert.equal(await run.ended(60_000), 1)
    assert.match(run.output(), says)
    assert.doesNotMatch(run.output(), /^ +at /m)
  }
})

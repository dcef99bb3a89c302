import { toHex } from '@atrium/log/bytes'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { readAtMost } from '@atrium/contract/joined-pieces'
import { entryTypes } from '@atrium/log/entry-types'
import { LogError } from '@atrium/log/log-error'
import { hashLeaf } from '@atrium/log/merkle'
import { parseNote, parseVerifier, type Verifier } from '@atrium/log/note'
import { judge, type Policy } from '@atrium/log/policy'
import { retryAfterSecondsOf } from '@atrium/room-client/retry'
import { OperatorError } from '../operator-api.ts'
import { toPlainJson } from '../plain-json.ts'
import { followLog, Misbehaviour, type Followed, type LoggedEntry } from './follow-log.ts'
import { lockFile } from './lock-file.ts'
import { readFollowed, writeFollowed } from './monitor-state.ts'
import { readPolicyFile } from './run-witness.ts'
import { Webhook } from './webhook.ts'

export interface MonitorOptions {
  vkey?: string
  policy?: string
  state: string
  expected?: string
  webhook?: string
  interval: number
  once?: boolean
}

/** One line of output, and the body of a webhook call. */
type Report =
  | { event: 'grown'; size: number; entries: number; witnesses: string[]; witnessed: boolean }
  | { event: 'unexpected_entry'; index: number; type: string; leaf: string }
  | { event: 'unreachable'; message: string }
  | { event: 'invalid' | 'forked' | 'rolled_back'; message: string; size: number; checkpoint?: string }

/** Types that the log of an installation has. */
const knownTypes: ReadonlySet<string> = new Set(entryTypes)
/** Types that the operator has to have made: with --expected, each must be listed. */
const listedTypes = new Set(['certificate', 'signing_key'])
const timeoutMs = 10_000
/**
 * A look ends after this time, or after so many unexpected entries, and the next one continues where it was. Otherwise
 * a log that serves entries without end would keep the monitor silent, or fill its memory.
 */
const lookMs = 5 * 60_000
const maxUnexpected = 1_000
/** A full bundle of the longest entries. */
const maxFileBytes = 256 * (65_535 + 2)

interface Watched {
  url: string
  logKeys: readonly Verifier[]
  policy: Policy | undefined
  /** Leaf hashes in hexadecimal; undefined: certificates and keys of any content are expected. */
  expected: ReadonlySet<string> | undefined
}

/** After this time, a monitor that looks once sends nothing more. */
const endsAfterMs = 60_000

/** Watches a log: prints and sends what it sees. With `once`, it ends with exit code 1 if something is wrong. */
export async function monitor(url: string, options: MonitorOptions): Promise<void> {
  const watched = readOptions(url, options)
  // By itself, a signal would leave the lock behind. What was not sent by then is not saved either: the next run reports it.
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  // Two that write one state would damage it, such as a run of cron that begins before the last one has ended.
  await lockFile(options.state)
  let last = await readFollowed(options.state)
  let saved = entriesRead(last)
  let saving: Promise<void> | undefined
  const webhook = options.webhook === undefined ? undefined : new Webhook(options.webhook)
  for (;;) {
    const { reports, followed } = await look(watched, last)
    for (const report of reports) {
      console.log(toPlainJson(report))
      webhook?.add({ log: url, ...report })
    }
    last = followed
    // Written after the reports are sent: one that was not sent because of a crash is sent again.
    if (saving === undefined && entriesRead(last) !== saved) {
      saving = Promise.resolve(webhook?.sent()).then(async () => {
        if (await save(options.state, followed)) saved = entriesRead(followed)
        saving = undefined
      })
    }
    if (options.once) {
      await webhook?.end(endsAfterMs)
      await saving
      if (entriesRead(last) !== saved || reports.some(({ event }) => event !== 'grown')) process.exitCode = 1
      return
    }
    await delay(options.interval * 1_000)
  }
}

/** A state that cannot be written, as on a full disk, does not end the watch. It is written after the next look. */
async function save(path: string, followed: Followed): Promise<boolean> {
  try {
    await writeFollowed(path, followed)
    return true
  } catch (error) {
    console.error(`what was seen is not remembered: ${path} cannot be written: ${messageOf(error)}`)
    return false
  }
}

const entriesRead = ({ size, reading }: Followed) => reading?.at ?? size

function readOptions(url: string, { vkey, policy: path, expected }: MonitorOptions): Watched {
  const policy = path === undefined ? undefined : readPolicyFile(path)
  const logKeys = [...(vkey === undefined ? [] : [readVerifier(vkey)]), ...(policy?.logs ?? []).map(({ verifier }) => verifier)]
  if (logKeys.length === 0) throw new OperatorError('the key of the log is needed: --vkey, or a policy with a line "log"')
  return { url, logKeys, policy, expected: expected === undefined ? undefined : readExpected(expected) }
}

function readVerifier(vkey: string): Verifier {
  try {
    return parseVerifier(vkey)
  } catch (error) {
    throw error instanceof LogError ? new OperatorError(error.message) : error
  }
}

function readExpected(path: string): ReadonlySet<string> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new OperatorError(`--expected cannot be read: ${messageOf(error)}`)
  }
  const lines = text.split('\n')
  return new Set(lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')))
}

/** One look at the log. A log that misbehaves is not followed any further. */
async function look(watched: Watched, last: Followed): Promise<{ reports: Report[]; followed: Followed }> {
  const reports: Report[] = []
  const endsAt = performance.now() + lookMs
  try {
    const read = (path: string) => readFile(`${watched.url.replace(/\/$/, '')}/${path}`, endsAt)
    const onEntry = ({ index, bytes }: LoggedEntry) => {
      const unexpected = findUnexpected(bytes, watched)
      if (unexpected !== undefined) reports.push({ event: 'unexpected_entry', index, ...unexpected })
    }
    const isEnough = () => reports.length >= maxUnexpected || performance.now() >= endsAt
    const { followed, failure } = await followLog({ read, logKeys: watched.logKeys }, last, onEntry, isEnough)
    if (followed.size > last.size) {
      const { isWitnessed, cosigners } = judgeCosigners(followed.checkpoint, watched)
      const entries = followed.size - last.size
      reports.push({ event: 'grown', size: followed.size, entries, witnesses: cosigners, witnessed: isWitnessed })
    }
    if (followed.reading) {
      const { at, head } = followed.reading
      const reason = failure === undefined ? '' : `${messageOf(failure)}; `
      reports.push({ event: 'unreachable', message: `${reason}${at} of ${head.size} entries are read; the next look continues` })
    }
    return { reports, followed }
  } catch (error) {
    if (error instanceof Misbehaviour) {
      const { kind, message, proof } = error
      reports.push({ event: kind, message, size: last.size, ...(proof === undefined ? {} : { checkpoint: proof }) })
      // What was read may be the wrong part. The next look begins after what is proved.
      if (kind === 'forked') return { reports, followed: { ...last, reading: undefined } }
    } else reports.push({ event: 'unreachable', message: messageOf(error) })
    return { reports, followed: last }
  }
}

function findUnexpected(bytes: Buffer, { expected }: Watched): { type: string; leaf: string } | undefined {
  const type = typeOf(bytes)
  const leaf = toHex(hashLeaf(bytes))
  if (!knownTypes.has(type)) return { type, leaf }
  return expected !== undefined && listedTypes.has(type) && !expected.has(leaf) ? { type, leaf } : undefined
}

function typeOf(bytes: Buffer): string {
  try {
    const entry: unknown = JSON.parse(bytes.toString())
    const type = typeof entry === 'object' && entry !== null && 'type' in entry ? entry.type : undefined
    return typeof type === 'string' ? type.slice(0, 100) : 'unknown'
  } catch {
    return 'unknown'
  }
}

function judgeCosigners(checkpoint: string, { policy }: Watched) {
  if (policy === undefined || policy.witnesses.length === 0) return { isWitnessed: false, cosigners: [] }
  return judge(parseNote(checkpoint), policy)
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Gets a file. If the server limits requests, waits as long as it asks, but not beyond the end of the look. */
async function readFile(url: string, endsAt: number): Promise<Buffer> {
  // Not 'error': with it, fetch of Node 20 can lose the signal after the headers have arrived.
  const get = () => fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
  let res = await get()
  while (res.status === 429) {
    await res.body?.cancel()
    const waitMs = Math.max(retryAfterSecondsOf(res.headers) ?? 1, 1) * 1_000
    if (performance.now() + waitMs >= endsAt) break
    await delay(waitMs)
    res = await get()
  }
  if (res.status !== 200) throw new Error(`${url} answered ${res.status}`)
  const bytes = await readAtMost(res.body, maxFileBytes)
  if (bytes === undefined) throw new Error(`${url} answers with more than ${maxFileBytes} bytes`)
  return bytes
}

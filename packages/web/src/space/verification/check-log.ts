import { appPageEntry, filesNamedIn } from '@atrium/log/app-page'
import { fromHex, toHex } from '@atrium/log/bytes'
import {
  assertContinues,
  certificateEntry,
  epochEntry,
  LogChanged,
  proveEntry,
  readHead,
  type GetFile,
  type SeenTree,
} from '@atrium/log/check-log'
import type { OpenedCheckpoint } from '@atrium/log/checkpoint'
import { LogError } from '@atrium/log/log-error'
import { parseVerifier, type Verifier } from '@atrium/log/note'
import { judge, parsePolicy } from '@atrium/log/policy'
import { readOfferedEpochs, type OfferedEpochs } from '@atrium/log/read-epochs'
import { retryAfterSecondsOf, wait } from '@atrium/room-client/retry'
import { list } from '../text/format.ts'
import { isFile } from '../service.ts'
import { t } from '../text/text.ts'
import { fetchFresh } from './certificate.ts'
import type { Check, Report } from './check.ts'
import { isSameLog, keepLog, type KeptLog, readKeptLog } from './kept-log.ts'
import { isLate, isSameEntry, keepMissing, type MissingEntry, readMissing } from './missing-entries.ts'

/** The log has no such file. */
class Missing extends Error {}

/** The longest time for all files of the log. */
const filesMs = 60_000
/** 20,000 epochs, and the longest time for their list. */
const maxEpochPages = 100
const epochsMs = 20_000
/** The longest time for the certificate, the page and its files, which the service of the room has. */
const shownMs = 30_000

/**
 * Checks what is shown here against the public log of the installation, with the code of `atrium verify`: that the log
 * continues what this device saw before, that it has the certificate, the page and the epochs that are offered, and who
 * cosigned it.
 */
export async function checkLog(apiUrl: string, report: Report): Promise<void> {
  const api = new URL(apiUrl).origin
  const signal = AbortSignal.timeout(filesMs)
  const getFile: GetFile = async (path) => {
    const res = await get(api + path, signal)
    if (res.status === 404) throw new Missing(path)
    if (!res.ok) throw new Error(`${path}: ${res.status}`)
    return new Uint8Array(await res.arrayBuffer())
  }
  const texts = t.protection.log
  // Before the head: another tab may keep a newer one at any time.
  const kept = readKeptLog(api)
  try {
    const keys = (await getText(getFile, '/log/vkey')).trimEnd().split('\n').map(parseVerifier)
    const head = await readHead(getFile, keys)
    const history = await checkHistory(api, getFile, head, kept)
    report(history)
    if (history.verdict === 'failed') return
    // A file is not the page of the service, and may not fetch that page from it.
    const { check, latest } = isFile() ? { latest: head } : await checkEntries(api, getFile, head, keys)
    if (check) report(check)
    report(await checkWitnesses(getFile, latest))
  } catch (error) {
    if (error instanceof LogChanged) report(changed(error))
    else if (error instanceof LogError) report({ id: 'log', verdict: 'failed', title: texts.broken, text: texts.brokenText })
    else report({ id: 'log', verdict: 'unknown', title: texts.unreachable, text: texts.unreachableText })
  }
}

/** GETs from the API. If it limits the requests of this address, waits as long as it says, until the signal aborts. */
async function get(url: string, signal: AbortSignal): Promise<Response> {
  for (;;) {
    const res = await fetch(url, { cache: 'no-store', credentials: 'omit', signal })
    if (res.status !== 429) return res
    await wait(Math.max(retryAfterSecondsOf(res.headers) ?? 1, 1) * 1_000, signal)
  }
}

/** What is not read in time is unread, like the rest of an endless list. */
async function readEpochs(api: string): Promise<OfferedEpochs> {
  const signal = AbortSignal.timeout(epochsMs)
  return readOfferedEpochs(
    async (path) => {
      const res = await get(api + path, signal)
      if (!res.ok) throw new Error(`${path}: ${res.status}`)
      return (await res.json()) as Record<string, unknown>
    },
    { maxPages: maxEpochPages, signal },
  )
}

const getText = async (getFile: GetFile, path: string) => new TextDecoder().decode(await getFile(path))

function changed({ kind }: LogChanged): Check {
  const texts = t.protection.log
  const isShorter = kind === 'rolled_back'
  return {
    id: 'log-history',
    verdict: 'failed',
    title: isShorter ? texts.rolledBack : texts.forked,
    text: isShorter ? texts.rolledBackText : texts.forkedText,
  }
}

/** What this device keeps of a log is replaced only by what continues it. `kept`: from before the head was read. */
async function checkHistory(api: string, getFile: GetFile, head: OpenedCheckpoint, kept: KeptLog | undefined): Promise<Check> {
  const id = 'log-history'
  const texts = t.protection.log
  const other: Check = { id, verdict: 'failed', title: texts.other, text: texts.otherText(head.origin) }
  if (kept && kept.origin !== head.origin) return other
  const treeOf = ({ size, root }: KeptLog): SeenTree => ({ size, root: fromHex(root) })
  let newest: SeenTree = head
  try {
    if (kept) await assertContinues(getFile, treeOf(kept), head)
    let last = kept
    for (let now = readKeptLog(api); now && !isSameLog(now, last); now = readKeptLog(api)) {
      // Another tab has kept it meanwhile. Of the two heads, the newer one stays.
      if (now.origin !== head.origin) return other
      const seen = treeOf(now)
      const [older, newer] = seen.size < newest.size ? [seen, newest] : [newest, seen]
      await assertContinues(getFile, older, newer)
      newest = newer
      last = now
    }
  } catch (error) {
    if (error instanceof LogChanged) return changed(error)
    throw error
  }
  keepLog(api, { origin: head.origin, size: newest.size, root: toHex(newest.root) })
  return kept
    ? { id, verdict: 'proved', title: texts.same, text: texts.sameText(kept.size, head.size) }
    : { id, verdict: 'trusted', title: texts.first, text: texts.firstText(head.size) }
}

/** `latest` is the newest head that was part of a proof: the one that has all of what is shown. */
async function checkEntries(
  api: string,
  getFile: GetFile,
  head: OpenedCheckpoint,
  keys: readonly Verifier[],
): Promise<{ check: Check; latest: OpenedCheckpoint }> {
  const id = 'log-entries'
  const texts = t.protection.log
  const offered = await fetchShown().catch(() => undefined)
  if (!offered) return { check: { id, verdict: 'unknown', title: texts.notCompared, text: texts.unreachableText }, latest: head }
  const { cert } = offered
  const { compared, older, unread } = await readEpochs(api)
  const nowMs = Date.now()
  const shown: MissingEntry[] = [
    { what: 'certificate', entry: certificateEntry(cert), since: nowMs },
    { what: 'page', entry: pageEntry(offered), since: nowMs },
    ...compared.map((epoch): MissingEntry => ({ what: 'epoch', entry: epochEntry(epoch), since: nowMs })),
  ]
  const known = readMissing(api)
  const isNew = ({ entry }: MissingEntry) => !known.some((one) => isSameEntry(one.entry, entry))
  let latest = head
  const missing: MissingEntry[] = []
  for (const one of [...known, ...shown.filter(isNew)])
    try {
      latest = await proveEntry(getFile, one.entry, latest, keys)
    } catch (error) {
      if (!(error instanceof Missing)) throw error
      missing.push(one)
    }
  keepMissing(api, missing)
  const late = missing.filter((one) => isLate(one, nowMs))
  const names = (entries: readonly MissingEntry[]) => list([...new Set(entries.map(({ what }) => texts[what]))])
  if (late.length > 0) return { check: { id, verdict: 'failed', title: texts.lacks, text: texts.lacksText(names(late)) }, latest }
  if (unread) {
    const verdict = unread.why === 'wrong' ? 'failed' : 'unknown'
    return { check: { id, verdict, title: texts.unread, text: texts.unreadText }, latest }
  }
  if (missing.length > 0)
    return { check: { id, verdict: 'unknown', title: texts.notYet, text: texts.notYetText(names(missing)) }, latest }
  const text = texts.hasText(compared.length) + (older > 0 ? ` ${texts.olderText(older)}` : '')
  return { check: { id, verdict: 'proved', title: texts.has, text }, latest }
}

interface Shown {
  readonly cert: Record<string, unknown>
  readonly page: Uint8Array
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** The page and its files as this browser has them: files have a hash in their names, and come from its cache. */
async function fetchShown(): Promise<Shown> {
  const signal = AbortSignal.timeout(shownMs)
  const bytesOf = async (res: Response) => new Uint8Array(await res.arrayBuffer())
  const cert = (await fetchFresh('/cert.json', signal).then((res) => res.json())) as Shown['cert']
  const page = await fetchFresh('/space', signal).then(bytesOf)
  const files = new Map<string, Uint8Array>()
  for (const path of filesNamedIn(page)) files.set(path, await fetch(path, { credentials: 'omit', signal }).then(bytesOf))
  return { cert, page, files }
}

function pageEntry({ cert, page, files }: Shown) {
  const { functionCodeSha256: code } = JSON.parse(String(cert['signed'])) as { functionCodeSha256: string }
  return appPageEntry({ page, files, code })
}

async function checkWitnesses(getFile: GetFile, { note }: OpenedCheckpoint): Promise<Check> {
  const id = 'log-witnesses'
  const texts = t.protection.log
  const policy = await getText(getFile, '/log/policy').then(parsePolicy, (error: unknown) => {
    if (error instanceof Missing) return undefined
    throw error
  })
  if (!policy) return { id, verdict: 'trusted', title: texts.noWitness, text: texts.noWitnessText }
  const { isWitnessed, cosigners } = judge(note, policy)
  if (!isWitnessed) return { id, verdict: 'unknown', title: texts.fewWitnesses, text: texts.fewWitnessesText }
  return cosigners.length > 0
    ? { id, verdict: 'proved', title: texts.witnessed, text: texts.witnessedText(list(cosigners)) }
    : { id, verdict: 'trusted', title: texts.noWitness, text: texts.noWitnessText }
}

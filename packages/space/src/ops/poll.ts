import type { TurnRecord } from '@atrium/sealing/records'
import { checkChain, lineHash } from '@atrium/sealing/node-lines'
import { openRecord } from '../rooms/access.ts'
import type { RoomHead } from '../rooms/head.ts'
import { listLines, listLinesWithin } from '../rooms/store.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { DamagedRoom, tooManyUnread } from '../space-error.ts'
import { authorise } from './authorise.ts'
import { getOpenRoom, type OpenRoom } from './open-room.ts'
import type { PollRequest } from './request.ts'

const defaultLimit = 500
/** Of stored lines. */
const pageBytes = 2 * 1024 * 1024
const tokenMarginMs = 1_000
/** A page of messages as people write them has less. */
const largeBytes = 512 * 1024

type Since = Pick<PollRequest, 'sinceEtag' | 'sinceCount' | 'limit'>

interface Page {
  etag: string
  count: number
  entries: object[]
}

/**
 * Reads what is new, or waits up to waitMs for it. Every look asks anew whether the caller may: a list can change while they wait. A room that
 * is not there is not waited for: whoever can name rooms could else hold all that can be held.
 */
export async function poll(ctx: SpaceContext, request: PollRequest, caller: Caller) {
  let deadlineMs = Date.now() + (request.waitMs ?? 0)
  for (;;) {
    const leftMs = deadlineMs - Date.now()
    const watch = leftMs > 0 && !caller.isGone() ? ctx.watch.watch(request.room, caller.key) : undefined
    try {
      const opened = await getOpenRoom(ctx, request)
      const { key, untilMs } = await authorise(ctx, request, opened.policy)
      // Answered before the token ends: held any longer, a poll without news would be refused for it.
      if (untilMs !== undefined) deadlineMs = Math.min(deadlineMs, untilMs - tokenMarginMs)
      const current = isCurrent(opened.head, request)
      if (!current || !watch || Date.now() >= deadlineMs) return await answer(ctx, request, { ...opened, reader: key }, current)
      await firstOf(watch.news(), deadlineMs - Date.now(), caller)
      if (watch.isOver()) deadlineMs = 0
    } finally {
      watch?.stop()
    }
  }
}

function isCurrent({ count, etag }: RoomHead, { sinceCount, sinceEtag }: Since): boolean {
  return sinceCount === count && (sinceEtag || etag) === etag
}

/** The room, and by which device key it is read, if one is shown. */
type ReadRoom = OpenRoom & { reader: string | undefined }

async function answer(ctx: SpaceContext, request: PollRequest, opened: ReadRoom, current: boolean) {
  const { policy, title } = opened.policy
  const page = current
    ? { etag: opened.head.etag, count: opened.head.count, entries: [] }
    : await readInTurn(ctx, opened, request)
  return { ...page, policy, ...(title === undefined ? {} : { title }) }
}

/** Large pages are made one after the other, and none while there is no room for it: made only to be refused, they fill the heap. */
async function readInTurn(ctx: SpaceContext, opened: ReadRoom, since: Since): Promise<Page> {
  const { count, bytes } = opened.head
  const lines = Math.min(count - (since.sinceCount ?? 0), since.limit ?? defaultLimit)
  const expectedBytes = Math.min((bytes / count) * lines, pageBytes)
  if (expectedBytes <= largeBytes) return readPage(ctx, opened, since)
  return ctx.largePages.run(() => {
    if (!ctx.unread.hasRoom(expectedBytes)) throw tooManyUnread()
    return readPage(ctx, opened, since)
  })
}

/**
 * The entries from sinceCount on, and where they end: etag and count are what to send with the next poll. The line before the first and
 * the line after the last are read too, so that the chain is checked across both ends of the page.
 */
async function readPage(ctx: SpaceContext, opened: ReadRoom, since: Since): Promise<Page> {
  const { head, key, reader } = opened
  const { room } = head
  const { limit = defaultLimit } = since
  const fromSeq = Math.min(since.sinceCount ?? 0, head.count)
  const firstSeq = Math.max(fromSeq - 1, 0)
  const lines = await readLines(ctx, head, firstSeq, Math.min(fromSeq + limit + 1, head.count))
  const afterSeq = firstSeq + lines.length
  const toSeq = afterSeq === head.count && afterSeq <= fromSeq + limit ? afterSeq : afterSeq - 1
  const before = fromSeq === 0 ? undefined : lineHash(lines[0]!)
  // What the caller has seen is not what is here: they start from the beginning.
  if (since.sinceEtag && before !== undefined && since.sinceEtag !== before) return readPage(ctx, opened, { limit })
  const shown = lines.slice(fromSeq - firstSeq)
  const end = afterSeq === head.count ? head.etag : undefined
  const broken = checkChain(shown, { fromSeq, prev: before, etag: end })
  if (broken) throw new DamagedRoom(room, broken.seq, `the chain breaks (${broken.problem})`)

  const entries = []
  let etag = before ?? ''
  for (let seq = fromSeq; seq < toSeq; seq++) {
    const line = shown[seq - fromSeq]!
    const record = openRecord(room, seq, line, key)
    if (record.t === 'turn') entries.push(entryOf(seq, record, reader))
    if (seq === toSeq - 1) etag = lineHash(line)
  }
  return { etag, count: toSeq, entries }
}

/**
 * The lines of a page. It ends early where they have more bytes than one answer should: a room of 64 MiB would else be in memory once for each
 * who reads it. Three lines fit in any case: the one before, one that is shown, and the one after.
 */
async function readLines(ctx: SpaceContext, head: RoomHead, fromSeq: number, toSeq: number): Promise<string[]> {
  const small = head.bytes <= pageBytes
  const lines = small
    ? await listLines(ctx.db, head.room, fromSeq, toSeq)
    : (await listLinesWithin(ctx.db, head.room, { fromSeq, toSeq, bytes: pageBytes, atLeast: 3 })).map(({ line }) => line)
  const isCut = !small && lines.length > 2 && lines.reduce((sum, line) => sum + line.length, 0) >= pageBytes
  if (lines.length !== toSeq - fromSeq && !isCut) throw new DamagedRoom(head.room, fromSeq, 'lines are missing')
  return lines
}

/** client_id is between an author and the service: who else reads it could pass for the author, or take the place of their message. */
function entryOf(
  seq: number,
  { id, at, author, message: { client_id: clientId, ...message } }: TurnRecord,
  reader: string | undefined,
) {
  const own = clientId !== undefined && reader !== undefined && reader === author.key
  return { seq, id, at, author, message: own ? { ...message, client_id: clientId } : message }
}

function firstOf(news: Promise<void>, ms: number, caller: Caller): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(end, ms)
    caller.onGone(end)
    void news.then(end)
  })
}

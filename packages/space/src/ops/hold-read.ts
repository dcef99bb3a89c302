import { required } from '@atrium/contract/required'
import { type checkChain, lineHash } from '@atrium/sealing/node-lines'
import type { RoomHead } from '../rooms/head.ts'
import { listLines, listLinesWithin } from '../rooms/store.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { DamagedRoom, tooManyUnread } from '../space-error.ts'
import type { PollRequest } from './request.ts'

const defaultLimit = 500
/** The largest size of a page, in bytes of stored lines. */
const pageBytes = 2 * 1024 * 1024
/** Most pages of normal messages are smaller. */
const largeBytes = 512 * 1024

type Since = Pick<PollRequest, 'sinceEtag' | 'sinceCount' | 'limit'>

/** Lines from `fromSeq` on, and their end: etag and count are the values for the next read. */
export interface Page {
  etag: string
  count: number
  fromSeq: number
  lines: string[]
}

type FindBreak = typeof checkChain

export interface HeldRead<Opened, Answer> {
  /** Reads the room and checks access. Called for every read, because a list can change during the wait. */
  open: () => Promise<Opened>
  /** Checks the chain of the lines. undefined: only the readers do, who alone know the form of a line. */
  findBreak: FindBreak | undefined
  /** Makes the answer from a page, which has no lines if there is no news. */
  answer: (opened: Opened, page: Page) => Answer
}

/**
 * Reads new lines, or waits up to waitMs for them. A read of a room that does not exist is not held: otherwise any
 * caller could take all places by inventing rooms.
 */
export async function holdRead<Opened extends { head: RoomHead; untilMs?: number | undefined }, Answer>(
  ctx: SpaceContext,
  request: Pick<PollRequest, 'room' | 'waitMs'> & Since,
  caller: Caller,
  { open, findBreak, answer }: HeldRead<Opened, Answer>,
): Promise<Answer> {
  // By the monotonic clock: a clock that is set back would hold the read for as long.
  let deadlineMs = performance.now() + (request.waitMs ?? 0)
  for (;;) {
    const leftMs = deadlineMs - performance.now()
    const watch = leftMs > 0 && !caller.isGone() ? ctx.watch.watch(request.room, caller.key) : undefined
    try {
      const opened = await open()
      const { head, untilMs } = opened
      if (untilMs !== undefined) deadlineMs = Math.min(deadlineMs, performance.now() + untilMs - Date.now())
      const current = isCurrent(head, request)
      if (!current || !watch || performance.now() >= deadlineMs) {
        const { etag, count } = head
        if (current) return answer(opened, { etag, count, fromSeq: count, lines: [] })
        return await inTurn(ctx, head, request, caller, async () => answer(opened, await readPage(ctx, head, request, findBreak)))
      }
      await firstOf(watch.news(head.etag), deadlineMs - performance.now(), caller)
      if (watch.isOver()) deadlineMs = 0
    } finally {
      watch?.stop()
    }
  }
}

function isCurrent({ count, etag }: RoomHead, { sinceCount, sinceEtag }: Since): boolean {
  return sinceCount === count && (sinceEtag || etag) === etag
}

/**
 * Large pages are produced one after the other, and only while there is room to send them: pages that are produced
 * only to be rejected would fill the heap.
 */
async function inTurn<Answer>(
  ctx: SpaceContext,
  { count, bytes }: RoomHead,
  since: Since,
  caller: Caller,
  produce: () => Promise<Answer>,
): Promise<Answer> {
  const lines = Math.min(count - (since.sinceCount ?? 0), since.limit ?? defaultLimit)
  const expectedBytes = Math.min((bytes / count) * lines, pageBytes)
  if (expectedBytes <= largeBytes) return produce()
  return ctx.largePages.run(() => {
    if (!ctx.unread.hasRoom(expectedBytes, caller.key)) throw tooManyUnread()
    return produce()
  })
}

/**
 * The lines from sinceCount on. The line before the first and the line after the last are read too, so that the chain
 * is checked across both ends of the page.
 */
async function readPage(ctx: SpaceContext, head: RoomHead, since: Since, findBreak: FindBreak | undefined): Promise<Page> {
  const { limit = defaultLimit } = since
  const fromSeq = Math.min(since.sinceCount ?? 0, head.count)
  const firstSeq = Math.max(fromSeq - 1, 0)
  const read = await readLines(ctx, head, firstSeq, Math.min(fromSeq + limit + 1, head.count))
  const afterSeq = firstSeq + read.length
  const count = afterSeq === head.count && afterSeq <= fromSeq + limit ? afterSeq : afterSeq - 1
  const before = fromSeq === 0 ? undefined : lineHash(required(read[0], 'readLines finds the line before the page'))
  // The caller's state is not part of this chain, so the page starts from the beginning.
  if (since.sinceEtag && before !== undefined && since.sinceEtag !== before) return readPage(ctx, head, { limit }, findBreak)
  const shown = read.slice(fromSeq - firstSeq)
  const broken = findBreak?.(shown, { fromSeq, prev: before, etag: afterSeq === head.count ? head.etag : undefined })
  if (broken) throw new DamagedRoom(head.room, broken.seq, `the chain breaks (${broken.problem})`)
  const lines = shown.slice(0, count - fromSeq)
  const last = lines.at(-1)
  return { etag: last === undefined ? (before ?? '') : lineHash(last), count, fromSeq, lines }
}

/**
 * The lines of a page. It ends early if they exceed the size of one answer: otherwise a room of 64 MiB would be in
 * memory once for each reader. Three lines always fit: the one before, one that is shown, and the one after.
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

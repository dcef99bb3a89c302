import type { TurnRecord } from '@atrium/sealing/records'
import { checkChain, lineHash } from '@atrium/sealing/node-lines'
import { openRecord } from '../rooms/access.ts'
import type { RoomHead } from '../rooms/head.ts'
import { listLines } from '../rooms/store.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { DamagedRoom, SpaceError } from '../space-error.ts'
import { authorise } from './authorise.ts'
import { findOpenRoom, type OpenRoom } from './open-room.ts'
import type { PollRequest } from './request.ts'

const defaultLimit = 500
const tokenMarginMs = 1_000

type Since = Pick<PollRequest, 'sinceEtag' | 'sinceCount' | 'limit'>

interface Page {
  etag: string
  count: number
  entries: object[]
}

/**
 * Reads what is new, or waits up to waitMs for it; also for the room itself. Every look asks anew whether the caller may: a list can change
 * while they wait.
 */
export async function poll(ctx: SpaceContext, request: PollRequest, caller: Caller) {
  let deadlineMs = Date.now() + (request.waitMs ?? 0)
  for (;;) {
    const leftMs = deadlineMs - Date.now()
    const watch = leftMs > 0 && !caller.isGone() ? ctx.watch.watch(request.room, caller.address) : undefined
    try {
      const opened = await findOpenRoom(ctx, request)
      // Answered before the token ends: held any longer, a poll without news would be refused for it.
      const visitor = opened && (await authorise(ctx, request, opened.policy, ''))
      if (visitor?.untilMs !== undefined) deadlineMs = Math.min(deadlineMs, visitor.untilMs - tokenMarginMs)
      const current = opened ? isCurrent(opened.head, request) : hasSeenNothing(request)
      if (!current || !watch || Date.now() >= deadlineMs) {
        if (!opened) throw new SpaceError('not_found', 'room')
        return await answer(ctx, request, opened, current)
      }
      await firstOf(watch.news(), deadlineMs - Date.now(), caller)
    } finally {
      watch?.stop()
    }
  }
}

function isCurrent({ count, etag }: RoomHead, { sinceCount, sinceEtag }: Since): boolean {
  return sinceCount === count && (sinceEtag || etag) === etag
}

/**
 * For such a caller a room that is not there may be yet to come. Whoever has read of it is told at once that it is gone. What they say
 * themselves decides, never whether there was such a room: nobody finds that out by the time an answer takes.
 */
function hasSeenNothing({ sinceCount = 0, sinceEtag = '' }: Since): boolean {
  return sinceCount === 0 && sinceEtag === ''
}

async function answer(ctx: SpaceContext, request: PollRequest, opened: OpenRoom, current: boolean) {
  const { policy, title } = opened.policy
  const page = current ? { etag: opened.head.etag, count: opened.head.count, entries: [] } : await readPage(ctx, opened, request)
  return { ...page, policy, ...(title === undefined ? {} : { title }) }
}

/**
 * The entries from sinceCount on, and where they end: etag and count are what to send with the next poll. The line before the first and
 * the line after the last are read too, so that the chain is checked across both ends of the page.
 */
async function readPage(ctx: SpaceContext, opened: OpenRoom, since: Since): Promise<Page> {
  const { head, key } = opened
  const { room } = head
  const { limit = defaultLimit } = since
  const fromSeq = Math.min(since.sinceCount ?? 0, head.count)
  const toSeq = Math.min(fromSeq + limit, head.count)
  const firstSeq = Math.max(fromSeq - 1, 0)
  const afterSeq = Math.min(toSeq + 1, head.count)
  const lines = await listLines(ctx.db, room, firstSeq, afterSeq)
  if (lines.length !== afterSeq - firstSeq) throw new DamagedRoom(room, firstSeq, 'lines are missing')
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
    if (record.t === 'turn') entries.push(entryOf(seq, record))
    if (seq === toSeq - 1) etag = lineHash(line)
  }
  return { etag, count: toSeq, entries }
}

function entryOf(seq: number, { id, at, author, message }: TurnRecord) {
  return { seq, id, at, author, message }
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

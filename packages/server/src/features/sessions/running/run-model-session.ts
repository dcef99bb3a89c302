import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '#features/context.ts'
import { isPassing } from '#db/is-passing.ts'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { ModelError } from '#ports/model/model-error.ts'
import { RoomRefusal, type AgentRoom, type RoomEntry, type RoomMessage, type RoomPage } from '../agent-room.ts'
import { endSession } from '../end-session.ts'
import { joinSession } from '../join-session.ts'
import type { Session } from '../session.ts'
import { openRoomKey } from '../session-secrets.ts'
import { turnToAnswer } from './choose-turn.ts'
import { noteAnswered } from './lease.ts'
import { KeptMind } from './open-mind.ts'
import { replyTo } from './reply-to.ts'
import { isPassingForHolder, LeaseLost, type SessionHold } from './session-hold.ts'

/** As long as the Space service holds a poll. */
const pollMs = 25_000
const historyEntries = 100
const roomRetryMs = 1_000

/** What a run needs to know of whoever runs it. */
export interface Run {
  session: Session
  hold: SessionHold
  /** Aborted when the session is over, no longer ours, or this process ends. */
  signal: AbortSignal
}

/**
 * Runs a model agent in its room: it reads along, answers what is for it, and notes how far it has come. Every answer bears an id made of the
 * session and the turn that it answers, which the room stores once: so whoever goes on after a crash cannot answer a turn twice.
 */
export async function runModelSession(ctx: Context, run: Run): Promise<void> {
  const { session, signal } = run
  const agent = { id: session.agentId, name: session.agent.name }
  const room = ctx.agentRooms.open(agent, { room: session.room, mk: openRoomKey(ctx.vault, session) }, `session:${session.id}`)
  const mind = new KeptMind(ctx, run)
  try {
    await mind.get()
    await converse(ctx, run, room, mind)
  } catch (error) {
    if (signal.aborted || error instanceof LeaseLost) return
    await fail(ctx, run, room, error)
  } finally {
    await mind.close()
  }
}

async function converse(ctx: Context, run: Run, room: AgentRoom, mind: KeptMind): Promise<void> {
  const { session, hold, signal } = run
  const { owner } = hold
  let page = await enter(room, signal)
  let { answeredSeq } = session
  const onDatabase = <T>(call: () => Promise<T>) => keepTrying(call, { signal, isPassing })
  if (!(await onDatabase(() => joinSession(ctx.db, session, owner)))) return
  const { greeting } = session.agent
  if (greeting !== null && session.joinedAt === null) await say(run, room, { text: greeting, client_id: `${session.id}.hello` })
  const seen: RoomEntry[] = page.entries
  while (!signal.aborted) {
    const turn = turnToAnswer(seen, { id: session.agentId, name: session.agent.name }, answeredSeq)
    if (turn) {
      const text = await replyTo({ session, mind: await mind.get(), history: seen, signal })
      await say(run, room, { text, reply_to: turn.id, client_id: `${session.id}.${turn.seq}` })
      answeredSeq = turn.seq
      if (!(await onDatabase(() => noteAnswered(ctx.db, session, owner, turn.seq)))) return
    }
    page = await next(room, page, signal)
    seen.push(...page.entries)
    if (seen.length > 2 * historyEntries) seen.splice(0, seen.length - historyEntries)
  }
}

/** The end of the room's history, and where it stands. A room that nobody has spoken in does not exist yet. */
async function enter(room: AgentRoom, signal: AbortSignal): Promise<RoomPage> {
  const none: RoomPage = { etag: '', count: 0, entries: [] }
  const head = await insist(
    () => room.poll({ sinceCount: Number.MAX_SAFE_INTEGER, limit: 1 }, signal).catch(orNone(none)),
    signal,
  )
  if (head.count === 0) return none
  return insist(() => room.poll({ sinceCount: Math.max(0, head.count - historyEntries), limit: 500 }, signal), signal)
}

function orNone(none: RoomPage): (error: unknown) => RoomPage {
  return (error) => {
    if (error instanceof RoomRefusal && error.status === 404) return none
    throw error
  }
}

/** Waits for what comes after the page; for a room that does not exist, until somebody speaks in it. */
async function next(room: AgentRoom, { etag, count }: RoomPage, signal: AbortSignal): Promise<RoomPage> {
  const none: RoomPage = { etag, count, entries: [] }
  const askedAt = Date.now()
  const page = await insist(
    () =>
      room
        .poll({ sinceEtag: etag, sinceCount: count, waitMs: pollMs, limit: 500 }, signal)
        .catch(count === 0 ? orNone(none) : undefined),
    signal,
  )
  // A room that is not there yet is not waited for by the Space service, nor is one of which it holds enough polls.
  if (page.entries.length === 0 && Date.now() - askedAt < roomRetryMs) await delay(roomRetryMs, undefined, { signal })
  return page
}

/** Says it while the lease is this worker's, and only then: whoever has taken the session over says it otherwise. */
async function say({ hold, signal }: Run, room: AgentRoom, message: RoomMessage): Promise<void> {
  await insist(async () => {
    await hold.confirm()
    await room.say(message, hold.assertFresh)
  }, signal)
}

/** Tries again while the Space service cannot answer; gives up on what it refuses, and when the lease is lost. */
function insist<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const mayPass = (error: unknown) => (error instanceof RoomRefusal ? error.isPassing : !(error instanceof LeaseLost))
  return keepTrying(call, { signal, isPassing: mayPass, pauseMs: roomRetryMs })
}

/** Says in the room and in the status why it goes, as long as the session is this worker's. */
async function fail(ctx: Context, { session, hold, signal }: Run, room: AgentRoom, error: unknown): Promise<void> {
  const told = explain(error)
  if (!told) ctx.log.error({ err: error, session: session.id }, 'a session failed')
  const reason = told ?? { code: 'internal_error', message: 'Something broke on our side.' }
  try {
    await keepTrying(() => hold.confirm(), { signal, isPassing: isPassingForHolder })
    const farewell = { text: `I have to leave: ${reason.message}`, client_id: `${session.id}.error` }
    // Best effort: the status has it too.
    if (!(error instanceof RoomRefusal)) await room.say(farewell, hold.assertFresh).catch(() => undefined)
    const end = () => endSession(ctx, session, { status: 'failed', error: reason }, { leaseOwner: hold.owner })
    await keepTrying(end, { signal, isPassing })
  } catch (ending) {
    if (!signal.aborted && !(ending instanceof LeaseLost)) throw ending
  }
}

function explain(error: unknown): { code: string; message: string } | undefined {
  if (error instanceof ModelError) return { code: error.code, message: error.message }
  if (error instanceof RoomRefusal)
    return { code: 'room_refused', message: `The room does not let the agent in any more: ${error.reason}.` }
  return undefined
}

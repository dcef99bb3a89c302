import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '#features/context.ts'
import { isPassing } from '#db/is-passing.ts'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { ModelError } from '#ports/model/model-error.ts'
import { followPages, pageLines, pastTheEnd, type Since } from '@atrium/room-client/follow-room'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { AgentRoom, RoomEntry, RoomMessage } from '../agent-room.ts'
import { endSession } from '../end-session.ts'
import { joinSession } from '../join-session.ts'
import type { Session } from '../session.ts'
import { openRoomKey } from '../session-secrets.ts'
import { turnToAnswer } from './choose-turn.ts'
import { noteAnswered } from './lease.ts'
import { KeptMind } from './open-mind.ts'
import { replyTo } from './reply-to.ts'
import { isPassingForHolder, LeaseLost, type SessionHold } from './session-hold.ts'

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
  const { entries: seen, since } = await enter(room, signal)
  let { answeredSeq } = session
  const onDatabase = <T>(call: () => Promise<T>) => keepTrying(call, { signal, isPassing })
  if (!(await onDatabase(() => joinSession(ctx.db, session, owner)))) return
  const { greeting } = session.agent
  if (greeting !== null && session.joinedAt === null) await say(run, room, { text: greeting, client_id: `${session.id}.hello` })
  const pages = followPages((from) => insist(room, () => room.poll(from, signal), signal), {
    since,
    waitForRoom: true,
    pause: () => delay(roomRetryMs, undefined, { signal }),
    signal,
  })
  for (;;) {
    const turn = turnToAnswer(seen, { id: session.agentId, name: session.agent.name }, answeredSeq)
    if (turn) {
      const text = await replyTo({ session, mind: await mind.get(), history: seen, signal })
      await say(run, room, { text, reply_to: turn.id, client_id: `${session.id}.${turn.seq}` })
      answeredSeq = turn.seq
      if (!(await onDatabase(() => noteAnswered(ctx.db, session, owner, turn.seq)))) return
    }
    const page = await pages.next()
    if (page.done) return
    seen.push(...page.value.entries)
    if (seen.length > 2 * historyEntries) seen.splice(0, seen.length - historyEntries)
  }
}

/** The end of the room's history, and where it stands. A room that nobody has spoken in does not exist yet. */
async function enter(room: AgentRoom, signal: AbortSignal): Promise<{ entries: RoomEntry[]; since: Since }> {
  const poll = (from: Parameters<AgentRoom['poll']>[0]) => insist(room, () => room.poll(from, signal), signal)
  const head = await poll({ ...pastTheEnd, limit: 1 }).catch(unlessMissing)
  if (!head || head.count === 0) return { entries: [], since: { sinceCount: 0, sinceEtag: '' } }
  const { entries, count, etag } = await poll({ sinceCount: Math.max(0, head.count - historyEntries), limit: pageLines })
  return { entries, since: { sinceCount: count, sinceEtag: etag } }
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof SpaceCallError) || error.status !== 404) throw error
}

/** Says it while the lease is this worker's, and only then: whoever has taken the session over says it otherwise. */
async function say({ hold, signal }: Run, room: AgentRoom, message: RoomMessage): Promise<void> {
  const sayOnce = async () => {
    await hold.confirm()
    await room.say(message, hold.assertFresh)
  }
  await insist(room, sayOnce, signal)
}

/** Tries again while the Space service cannot answer; gives up on what it refuses, and when the lease is lost. */
function insist<T>(room: AgentRoom, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const mayPass = (error: unknown) => (error instanceof SpaceCallError ? room.isPassing(error) : !(error instanceof LeaseLost))
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
    if (!(error instanceof SpaceCallError)) await room.say(farewell, hold.assertFresh).catch(() => undefined)
    const end = () => endSession(ctx, session, { status: 'failed', error: reason }, { leaseOwner: hold.owner })
    await keepTrying(end, { signal, isPassing })
  } catch (ending) {
    if (!signal.aborted && !(ending instanceof LeaseLost)) throw ending
  }
}

function explain(error: unknown): { code: string; message: string } | undefined {
  if (error instanceof ModelError) return { code: error.code, message: error.message }
  if (error instanceof SpaceCallError)
    return { code: 'room_refused', message: `The room does not let the agent in any more: ${error.reason}.` }
  return undefined
}

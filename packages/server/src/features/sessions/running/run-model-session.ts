import { setTimeout as delay } from 'node:timers/promises'
import { followPages } from '@atrium/room-client/follow-room'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import { NotListedError } from '@atrium/room-client/listed-types'
import { LineTooLongError } from '@atrium/room-client/seal-line'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { isPassing } from '#db/is-passing.ts'
import type { Context } from '#features/context.ts'
import { StoppedByMeterError } from '#ports/model/meter.ts'
import { ModelError } from '#ports/model/model-error.ts'
import { parkSession } from '../budget-store.ts'
import type { HeldRoom, RoomMessage } from '../agent-room.ts'
import { commitEnd, joinSession } from '../session-transitions.ts'
import type { Session } from '../session.ts'
import { answerTo, ReopeningRuntime } from './agent-runtime.ts'
import { BudgetMeter } from './budget-meter.ts'
import { updateAnswered } from './lease-store.ts'
import { openHeldRoom } from './open-held-room.ts'
import { RoomKeyError, roomKeyUnopened } from './open-with-keys.ts'
import { LeaseLostError, type SessionLease, isPassingForHolder } from './session-lease.ts'
import { turnToAnswer } from './turn-to-answer.ts'

const historyEntries = 100
const roomRetryMs = 1_000

/** A session that this worker runs. */
export interface Run {
  session: Session
  lease: SessionLease
  /** Aborted when the session has ended, its lease is lost, or this process stops. */
  signal: AbortSignal
}

/**
 * Runs a model agent in its room: reads the room, answers the turns that address the agent, and records the last turn
 * it answered. The id of an answer is made of the session and the turn, and a room stores an id once: a worker that
 * continues after a crash answers no turn twice.
 */
export async function runModelSession(ctx: Context, run: Run): Promise<void> {
  const { session, signal } = run
  const runtime = new ReopeningRuntime(ctx, run)
  let room: HeldRoom | undefined
  try {
    room = await openHeldRoom(ctx, run)
    const meter = session.budget && new BudgetMeter(ctx, run, session.budget)
    if (!meter?.isSpent) {
      await runtime.get()
      await converse(ctx, run, room, { runtime, meter })
    }
    if (meter?.isSpent) await pause(ctx, run, room, meter)
  } catch (error) {
    if (signal.aborted || error instanceof LeaseLostError) return
    await fail(ctx, run, room, error)
  } finally {
    await runtime.close()
  }
}

interface Means {
  runtime: ReopeningRuntime
  /** null: nothing is metered. */
  meter: BudgetMeter | null
}

/** Returns when the session is no longer this worker's, or its budget is used up. */
async function converse(ctx: Context, run: Run, room: HeldRoom, { runtime, meter }: Means): Promise<void> {
  const { session, signal } = run
  const { owner } = run.lease
  const { entries: seen, since } = await room.enter((call) => retry(room, call, signal))
  let { answeredSeq } = session
  // The room had lines at the launch and has none now: it was removed. Its name stays reserved, so no new room comes.
  if (since.sinceCount === 0 && answeredSeq >= 0) throw roomGone()
  const onDatabase = <T>(call: () => Promise<T>) => keepTrying(call, { signal, isPassing })
  if (!(await onDatabase(() => join(ctx, session, owner)))) return
  const { greeting } = session.agent
  if (greeting !== null && session.joinedAt === null) await say(run, room, { text: greeting, client_id: `${session.id}.hello` })
  const pages = followPages((from) => retry(room, () => room.poll(from, signal), signal), {
    since,
    waitForRoom: true,
    pause: () => delay(roomRetryMs, undefined, { signal }),
    signal,
  })
  for (;;) {
    const turn = turnToAnswer(seen, { id: session.agentId, name: session.agent.name }, answeredSeq)
    if (turn) {
      const text = await answerTo(run, runtime, seen, meter ?? undefined).catch(unlessStopped)
      if (text === undefined) return
      await say(run, room, { text, reply_to: turn.id, client_id: `${session.id}.${turn.seq}` })
      answeredSeq = turn.seq
      if (!(await onDatabase(() => updateAnswered(ctx.db, session, owner, turn.seq)))) return
      if (meter?.isSpent) return
    }
    const page = await pages.next()
    if (page.done) return
    seen.push(...page.value.entries)
    if (seen.length > 2 * historyEntries) seen.splice(0, seen.length - historyEntries)
  }
}

function join({ db }: Context, session: Session, leaseOwner: string): Promise<Session | undefined> {
  return db.lane(session.id).transaction((tx) => joinSession(tx, session, { leaseOwner }))
}

function unlessStopped(error: unknown): undefined {
  if (!(error instanceof StoppedByMeterError)) throw error
}

/** Posts a message, only while this worker holds the lease: else the worker that took the session over posts it too. */
async function say({ lease, signal }: Run, room: HeldRoom, message: RoomMessage & { client_id: string }): Promise<void> {
  const sayOnce = async () => {
    await lease.confirm()
    await room.say(message, lease.assertFresh)
  }
  await retry(room, sayOnce, signal)
}

/** Retries while the Space service cannot answer. Gives up when the service refuses the call, or the lease is lost. */
function retry<T>(room: HeldRoom, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const mayPass = (error: unknown) => {
    if (error instanceof SpaceCallError) return room.isPassing(error)
    return !(error instanceof LeaseLostError || error instanceof LineTooLongError || isRefusal(error))
  }
  return keepTrying(call, { signal, isPassing: mayPass, pauseMs: roomRetryMs })
}

/**
 * Tells the room that the budget is used up, once for each budget, and releases the session. The database has it as
 * paused already: a worker that dies here leaves a lease that expires, and the next one tells the room.
 */
async function pause(ctx: Context, run: Run, room: HeldRoom, { heldCredits }: BudgetMeter): Promise<void> {
  const { session, lease, signal } = run
  const text = `I pause here: the budget of ${heldCredits} credits is used up. I continue after a top-up.`
  await say(run, room, { text, client_id: `${session.id}.paused.${heldCredits}` })
  await keepTrying(() => parkSession(ctx.db, session, lease.owner), { signal, isPassing })
}

/** Posts the reason in the room, if it is open, and stores it in the status, while this worker holds the lease. */
async function fail(ctx: Context, { session, lease, signal }: Run, room: HeldRoom | undefined, error: unknown): Promise<void> {
  const known = explain(error)
  // The master key or the row is wrong, which the operator has to repair.
  if (!known || error instanceof RoomKeyError) ctx.log.error({ err: error, session: session.id }, 'a session failed')
  const reason = known ?? { code: 'internal_error', message: 'The server had an internal error.' }
  try {
    await keepTrying(() => lease.confirm(), { signal, isPassing: isPassingForHolder })
    const farewell = { text: `I have to leave: ${reason.message}`, client_id: `${session.id}.error` }
    // Best effort: the status gives the reason too.
    if (room && !(error instanceof SpaceCallError) && !isRefusal(error))
      await room.say(farewell, lease.assertFresh).catch(() => undefined)
    const end = () => commitEnd(ctx, session, { status: 'failed', error: reason }, { leaseOwner: lease.owner })
    await keepTrying(end, { signal, isPassing })
  } catch (ending) {
    if (!signal.aborted && !(ending instanceof LeaseLostError)) throw ending
  }
}

function explain(error: unknown): { code: string; message: string } | undefined {
  if (error instanceof ModelError) return { code: error.code, message: error.message }
  if (error instanceof SpaceCallError && error.status === 404) return { code: 'room_refused', message: 'The room was removed.' }
  if (error instanceof SpaceCallError)
    return { code: 'room_refused', message: `The room does not let the agent in any more: ${error.reason}.` }
  if (error instanceof RoomKeyError) return roomKeyUnopened
  if (error instanceof NotListedError)
    return { code: 'room_refused', message: 'The owner of the room has removed the device of the agent.' }
  if (error instanceof LineTooLongError) return { code: 'room_refused', message: 'A line of the room cannot hold the answer.' }
  if (error instanceof TamperedRoomError)
    return { code: 'room_refused', message: `The room is not what its members have written: ${error.message}` }
  return undefined
}

function roomGone(): SpaceCallError {
  return new SpaceCallError({ status: 404, error: 'not_found', reason: 'room', message: 'the room was removed' })
}

/** Of a client-sealed room: a further attempt meets the same. */
function isRefusal(error: unknown): boolean {
  return error instanceof NotListedError || error instanceof TamperedRoomError
}

import type { SessionLaunch } from '@atrium/contract/session-schemas'
import { agreedEnd, isPastEnd, LONGEST_MINUTES } from '@atrium/room-client/is-past-end'
import { keysOfAgent, type LeavingAgent } from '@atrium/room-client/leaving-with'
import { isTransient, isUncertain } from '@atrium/room-client/retry'
import { newAgentGuest, type SealedAgent, sealForAgent } from '@atrium/room-client/seal-for-agent'
import { readPart } from '@atrium/room-client/sealed-token'
import type { Static } from 'typebox'
import { AtriumError } from './atrium-error.ts'
import type { AtriumClient } from './call.ts'
import { NotFoundError, UnauthorizedError } from './errors.ts'
import type { ListedRoom } from './listed-room.ts'
import { wait as delay, type Wait } from './retry.ts'
import { endOf } from './session-watch.ts'

export { sealForAgent, type SealedAgent }

/** What the owner keeps of a launch until the agent's device has left the list. The token is a secret. */
export interface AgentVisit {
  readonly session: string
  readonly controlToken: string
  /**
   * Of a remote agent: the name under which its device is invited. It contains the agent's id and is new for each
   * launch.
   */
  readonly invitedAs?: string
  /** Of a hosted agent: the device with which the operator of the platform reads along. */
  readonly device?: string
  /**
   * RFC 3339. Never later than was agreed: the device leaves the list a minute after it at the latest, whatever the
   * platform says. Visits of earlier releases have none.
   */
  readonly expiresAt?: string
}

/** A launch of a hosted agent that waits for the consent of the room's owner. `summonKey` is a secret. */
export interface PreparedAgent {
  /** The id of the pending launch. */
  readonly id: string
  readonly summonKey: string
  readonly agent: string
  /** The card of the device with which the operator would read along. */
  readonly card: string
  /** RFC 3339. The agent can be launched until then. */
  readonly expiresAt: string
  /** How long the session may last. What earlier releases have prepared has none, which means a day. */
  readonly maxMinutes?: number
}

/** The agent is in the room already, by a session of somebody else's launch. Nothing was charged. */
export class AgentPresentError extends Error {
  override readonly name = 'AgentPresentError'
  /** The id of that session. */
  readonly session: string

  constructor(session: string) {
    super('The agent is in this room already. Launch it again when its session has ended.')
    this.session = session
  }
}

type Terms = Omit<Static<typeof SessionLaunch>, 'agent_id' | 'room' | 'arm'>

/** `max_minutes`: as the catalog shows it. */
type Limited = { readonly max_minutes?: number }

/**
 * The owner launches a remote agent into a room with a list of devices: invites it, seals the invitation to its key, and
 * launches. Store the visit, and call `accompanyAgent` with it at once: without an owner who admits it within 30 seconds,
 * the agent never joins, and nothing is charged. If the launch fails, the invitation is taken back.
 *
 * @example
 * const visit = await launchAgent(atrium, room, agent, { coupon, max_price_credits: 5 })
 * localStorage.setItem('visit', JSON.stringify(visit))
 * await accompanyAgent(atrium, room, visit)
 * localStorage.removeItem('visit')
 */
export async function launchAgent(
  client: AtriumClient,
  room: ListedRoom,
  agent: SealedAgent & Limited,
  terms: Terms,
): Promise<AgentVisit> {
  const invitedAs = newAgentGuest(agent.id)
  // Refuses an agent without a key before anything is written.
  if (!agent.encryption_key) await sealForAgent(agent, room.room, '')
  const invitation = await room.invite(invitedAs)
  try {
    const key = { room: room.room, sealed_key: await sealForAgent(agent, room.room, invitation) }
    const { data } = await client.launchSession({ body: { ...terms, agent_id: agent.id, room: key } })
    if (!('control_token' in data)) throw new AgentPresentError(data.id)
    return {
      session: data.id,
      controlToken: data.control_token,
      invitedAs,
      expiresAt: agreedEnd(data.expires_at, minutesOf(agent, terms)),
    }
  } catch (error) {
    // The error of the launch is the one to report. An invitation that stays can be taken back later.
    await removeAgent(room, { invitedAs }).catch(() => undefined)
    throw error
  }
}

/**
 * Prepares the launch of a hosted agent, which the operator of the platform runs, into a room with a list of devices. Nothing
 * is charged, and nobody can read anything yet. Store the result until `launchHostedAgent` has returned.
 */
export async function prepareHostedAgent(
  client: AtriumClient,
  { room }: Pick<ListedRoom, 'room'>,
  agent: { readonly id: string } & Limited,
  terms: Terms,
): Promise<PreparedAgent> {
  const { data } = await client.launchSession({ body: { ...terms, agent_id: agent.id, room: { room }, arm: true } })
  if (!('card' in data) || data.card === undefined) throw new TypeError(`agent ${agent.id} was not prepared for such a room`)
  const { id, summon_key: summonKey, card, expires_at: expiresAt } = data
  return { id, summonKey, agent: agent.id, card, expiresAt, maxMinutes: minutesOf(agent, terms) }
}

/**
 * The owner of the room consents, and launches the prepared agent. **From then on the operator of the platform reads along**,
 * also what was said before, and every reader of the room is told, until `accompanyAgent` has removed the device. If the
 * launch fails for certain, the device is removed at once and the key changes. After any other failure or a crash call it
 * again with the same preparation: it launches and charges once.
 *
 * @example
 * const prepared = await prepareHostedAgent(atrium, room, agent, { coupon, max_price_credits: 5 })
 * localStorage.setItem('prepared', JSON.stringify(prepared))
 * const visit = await launchHostedAgent(atrium, room, prepared) // after the owner has agreed that the operator reads along
 * await accompanyAgent(atrium, room, visit)
 */
export async function launchHostedAgent(client: AtriumClient, room: ListedRoom, prepared: PreparedAgent): Promise<AgentVisit> {
  const { id, summonKey, agent, card, maxMinutes } = prepared
  const device = await room.host({ agent, card })
  try {
    const idempotencyKey = `hosted ${id}`
    const { data } = await client.summonSession({ body: { summon_key: summonKey }, idempotencyKey })
    return { session: data.id, controlToken: data.control_token, device, expiresAt: agreedEnd(data.expires_at, maxMinutes) }
  } catch (error) {
    // The agent may have been launched nevertheless.
    if (error instanceof AtriumError && isUncertain(error)) throw error
    await removeAgent(room, { device }).catch(() => undefined)
    throw error
  }
}

/** How long the owner has agreed to. A quote replaces what the catalog shows. */
function minutesOf({ max_minutes: shown }: Limited, { quote, max_minutes: asked }: Terms): number {
  const quoted = readPart(quote?.split('.')[1])?.['max_minutes']
  return Math.min(asked ?? LONGEST_MINUTES, (typeof quoted === 'number' ? quoted : shown) ?? LONGEST_MINUTES)
}

export interface AccompanyOptions {
  signal?: AbortSignal
  /** Milliseconds between two requests for the status, once the agent is in the room. Default 3,000. */
  lookEveryMs?: number
  /** Waits; for tests. */
  wait?: Wait
}

const admitIntervalMs = 500
/** The agent is admitted within 30 seconds, and removed at its end, also if the platform leaves a question unanswered. */
const lookTimeoutMs = 5_000

/**
 * The owner admits the device of an agent as soon as it has answered, and removes it when the session has ended, which
 * gives the room another key. Returns how the session ended. A minute after the end that was agreed at the launch, it
 * removes the device whatever the platform says, and returns `expired`. Until then it goes on asking, even if the
 * platform refuses. If the signal aborts, the agent stays: until somebody calls this again with the same visit, its
 * device keeps the key of the room. Throws AtriumError.
 */
export async function accompanyAgent(
  client: AtriumClient,
  room: ListedRoom,
  { session: id, controlToken, invitedAs, device, expiresAt }: AgentVisit,
  { signal, lookEveryMs = 3_000, wait = delay }: AccompanyOptions = {},
): Promise<string> {
  // The owner has let in the device of a hosted agent before the launch.
  let isIn = invitedAs === undefined
  const look = async (): Promise<string | undefined> => {
    const isOver = expiresAt !== undefined && isPastEnd(expiresAt)
    let ended: string | undefined
    try {
      ended = await endOfSession(client, { id, controlToken })
    } catch (error) {
      // A platform that refuses to say it must not keep the device on the list.
      if (expiresAt === undefined) throw error
      if (!isOver) return undefined
    }
    if (isOver) ended ??= 'expired'
    if (ended !== undefined) await removeAgent(room, { invitedAs, device })
    else if (!isIn && invitedAs !== undefined)
      isIn = (await room.admit({ invitedAs })).length > 0 || (await hasJoined(room, invitedAs))
    return ended
  }
  for (;;) {
    signal?.throwIfAborted()
    const ended = await look().catch((error: unknown) => {
      if (!(error instanceof AtriumError && isTransient(error))) throw error
      return undefined
    })
    if (ended !== undefined) return ended
    await wait(isIn ? lookEveryMs : admitIntervalMs, signal)
  }
}

/** undefined: it has not ended. A token that is no longer accepted means that the session ended long ago. */
async function endOfSession(client: AtriumClient, control: { id: string; controlToken: string }): Promise<string | undefined> {
  const signal = AbortSignal.timeout(lookTimeoutMs)
  try {
    return endOf((await client.getSession({ ...control, signal })).data.status)
  } catch (error) {
    if (error instanceof UnauthorizedError || error instanceof NotFoundError) return 'ended'
    if (signal.aborted) return undefined
    throw error
  }
}

async function hasJoined(room: ListedRoom, invitedAs: string): Promise<boolean> {
  return (await room.members()).some((member) => member.invitedAs === invitedAs)
}

/** Removes the agent's device, or takes its invitation back. If the room has neither, nothing changes. */
async function removeAgent(room: ListedRoom, agent: LeavingAgent): Promise<void> {
  const keys = keysOfAgent([...(await room.members()), ...(await room.invitations())], agent)
  if (keys.length > 0) await room.expel(keys)
}

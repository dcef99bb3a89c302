import type { SessionStatus } from '../api/platform-api.ts'

/** The launch of a hosted agent before it is known to be accepted: it is repeated, also after a reload. */
export interface Prepared {
  /** The id of the agent. */
  readonly agent: string
  readonly card: string
  readonly summonKey: string
  /** How long the session may last. Absent in what an earlier release has kept. */
  readonly maxMinutes?: number
  /** Likewise. */
  readonly priceCredits?: number
}

/** An agent that was invited from this tab. */
export interface InvitedAgent {
  /** Of its session; of a hosted agent in a client-sealed room, of the launch that was prepared. */
  readonly id: string
  /** Of its session, where `id` is another one. */
  readonly sessionId?: string | undefined
  readonly name: string
  /** The control token, which anyone who has it can use to stop the session. */
  readonly controlToken: string
  readonly status: SessionStatus['status']
  readonly hasJoined: boolean
  readonly expiresAt: string
  readonly chargedCredits: number
  /** Whom its device is invited as, in a room with a list of devices. */
  readonly invitedAs?: string | undefined
  /** The device with which the operator reads along there, for a hosted agent. */
  readonly device?: string | undefined
  readonly prepared?: Prepared | undefined
  /** Its device, or the invitation for it, is on that list. */
  readonly isOnList: boolean
  /** A stop was requested and is not complete. */
  readonly leaving: boolean
  /** The request to stop failed. */
  readonly unreached: boolean
  /** Why it did not come, if no form is there to say it. */
  readonly reason?: string | undefined
}

export function isHere({ status }: Pick<InvitedAgent, 'status'>): boolean {
  return status === 'launching' || status === 'running' || status === 'paused' || status === 'stopping'
}

export type KeptAgent = Pick<
  InvitedAgent,
  'id' | 'name' | 'controlToken' | 'expiresAt' | 'invitedAs' | 'sessionId' | 'device' | 'prepared'
>

const KEY = 'atrium.space.agents.'

/** In session storage, like the sign-in: it ends with the tab, and no other site can read it. */
export function keepInvited(room: string, agents: readonly InvitedAgent[]): void {
  const kept: KeptAgent[] = agents
    .filter(isHere)
    .map(({ id, name, controlToken, expiresAt }) => ({ id, name, controlToken, expiresAt }))
  try {
    if (kept.length > 0) sessionStorage.setItem(KEY + room, JSON.stringify(kept))
    else sessionStorage.removeItem(KEY + room)
  } catch {
    // Storage is switched off, so the agent can be sent away only until the page is closed.
  }
}

export function readInvited(room: string): InvitedAgent[] {
  try {
    const kept: KeptAgent[] = JSON.parse(sessionStorage.getItem(KEY + room) ?? '[]')
    return kept.map(justInvited)
  } catch {
    return []
  }
}

export function justInvited(kept: KeptAgent): InvitedAgent {
  const isOnList = kept.invitedAs !== undefined || kept.device !== undefined
  return { ...kept, status: 'launching', hasJoined: false, chargedCredits: 0, isOnList, leaving: false, unreached: false }
}

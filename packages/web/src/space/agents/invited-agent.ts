import type { SessionStatus } from '../api/platform-api.ts'

/** An agent that was invited from this tab. */
export interface InvitedAgent {
  /** Of its session. */
  readonly id: string
  readonly name: string
  /** The control token, which anyone who has it can use to stop the session. */
  readonly controlToken: string
  readonly status: SessionStatus['status']
  readonly hasJoined: boolean
  readonly expiresAt: string
  readonly chargedCredits: number
  /** A stop was requested and is not complete. */
  readonly leaving: boolean
  /** The request to stop failed. */
  readonly unreached: boolean
}

export function isHere({ status }: Pick<InvitedAgent, 'status'>): boolean {
  return status === 'launching' || status === 'running' || status === 'paused' || status === 'stopping'
}

type Kept = Pick<InvitedAgent, 'id' | 'name' | 'controlToken' | 'expiresAt'>

const KEY = 'atrium.space.agents.'

/** In session storage, like the sign-in: it ends with the tab, and no other site can read it. */
export function keepInvited(room: string, agents: readonly InvitedAgent[]): void {
  const kept: Kept[] = agents
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
    const kept: Kept[] = JSON.parse(sessionStorage.getItem(KEY + room) ?? '[]')
    return kept.map(justInvited)
  } catch {
    return []
  }
}

export function justInvited(kept: Kept): InvitedAgent {
  return { ...kept, status: 'launching', hasJoined: false, chargedCredits: 0, leaving: false, unreached: false }
}

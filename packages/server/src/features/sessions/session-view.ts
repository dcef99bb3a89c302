import type { Session } from './session.ts'

/** What whoever launched it gets, once. */
export function sessionView({ session, controlToken }: { session: Session; controlToken: string }) {
  return {
    id: session.id,
    agent_id: session.agentId,
    room: session.room,
    status: session.status,
    control_token: controlToken,
    price_credits: session.priceCredits,
    created_at: session.createdAt,
    expires_at: session.expiresAt,
  }
}

import type { Agent } from '../agents/agent.ts'
import type { AccountRef, Hold, HoldEnd } from '#features/credits/ledger/movement.ts'
import { revenueAccount, transactionId } from '#features/credits/ledger/movement.ts'

/** What an agent has used in a session. */
export interface Use {
  /** Tokens that the model read and wrote. */
  tokens: number
  toolCalls: number
}

/** What is held for an agent's use in a session, and what it has used. In whole credits. */
export interface Budget {
  heldCredits: number
  /** The price of `use`. The last answer of a model may exceed what is held. */
  usedCredits: number
  use: Use
}

/** The share of one payer: of the launch, then of each top-up. */
export interface BudgetShare {
  payer: AccountRef
  credits: number
}

/** What an agent's use costs, in whole credits. */
export interface MeteredPrices {
  per1kTokens: number
  perToolCall: number
}

/** A session settles all its holds in one transaction. */
export const maxShares = 100

/** undefined: nothing that the agent uses has a price. The use of a remote agent cannot be counted here. */
export function meteredPricesOf(
  agent: Pick<Agent, 'endpoint' | 'creditsPer1kTokens' | 'creditsPerToolCall'>,
): MeteredPrices | undefined {
  const { endpoint, creditsPer1kTokens: per1kTokens, creditsPerToolCall: perToolCall } = agent
  return endpoint === null && per1kTokens + perToolCall > 0 ? { per1kTokens, perToolCall } : undefined
}

/** The price of what was used in all, so that a session is rounded up once and not at every step. */
export function priceOfUse({ per1kTokens, perToolCall }: MeteredPrices, { tokens, toolCalls }: Use): number {
  return Math.ceil((tokens * per1kTokens) / 1_000) + toolCalls * perToolCall
}

interface Launched {
  tenantId: string
  id: string
  agentTenantId: string
  expiresAt: string
}

/** How long a hold outlives its session: the time to settle it before the sweeper releases it. */
const holdGraceMs = 10 * 60_000

/** When the sweeper releases a hold of the session that nothing has settled. RFC 3339. */
export function holdEndsAt({ expiresAt }: Pick<Launched, 'expiresAt'>): string {
  return new Date(Date.parse(expiresAt) + holdGraceMs).toISOString()
}

function shareId(sessionId: string, index: number): string {
  return transactionId('hold', sessionId, 'budget', String(index))
}

/** Sets the share at `index` aside. Its purpose tells receipts that it is a budget: see receipt-hold-ends.sql. */
export function holdOfShare(session: Launched, { payer, credits }: BudgetShare, index: number): Hold {
  return {
    type: 'hold',
    id: shareId(session.id, index),
    from: payer,
    amountCredits: credits,
    actor: session.tenantId,
    endsAt: holdEndsAt(session),
    purpose: `${session.id}/budget`,
  }
}

/** Captures what was used, from the first share on, and releases the rest. Not due: releases everything. */
export function endsOfShares(
  session: Launched & { joinedAt: string | null },
  shares: BudgetShare[],
  usedCredits: number,
): HoldEnd[] {
  let left = usedCredits
  return shares.map(({ payer, credits }, index): HoldEnd => {
    const amountCredits = Math.min(left, credits)
    left -= amountCredits
    return {
      type: 'hold_end',
      id: shareId(session.id, index),
      from: payer,
      actor: session.tenantId,
      outcome: amountCredits > 0 ? 'captured' : 'released',
      joinedAt: session.joinedAt,
      ...(amountCredits > 0 ? { capture: { to: revenueAccount(session.agentTenantId), amountCredits } } : {}),
    }
  })
}

import type { Tx } from '#db/database.ts'
import { recordEvent } from '../events/record-event.ts'
import { type Budget, type Use, priceOfUse } from './budget.ts'
import { updateUse } from './budget-store.ts'
import { sessionEvent, type Session } from './session.ts'
import { findSessionForUpdate } from './store.ts'

/**
 * answer: the model's, with its tokens. It was given, so it counts even where it exceeds the budget; then, or where it
 * uses up the budget exactly, the session pauses. tool_call: is recorded before it is made, so that no crash makes it
 * free. One that the budget does not cover is not recorded and must not be made: the session pauses.
 */
export type Step = { type: 'answer'; tokens: number } | { type: 'tool_call' }

interface Recorder {
  /** The worker that must hold the lease. */
  leaseOwner: string
  /**
   * The number of the step in the session. A step that is recorded already changes nothing. A refused tool call does not
   * take its number, so a repeat is decided again: a top-up may have come since.
   */
  number: number
}

/** Records a step. undefined: the session has ended, or another worker has it. */
export async function recordStep(
  tx: Tx,
  { tenantId, id }: Pick<Session, 'tenantId' | 'id'>,
  { leaseOwner, number }: Recorder,
  step: Step,
): Promise<{ isPaused: boolean; heldCredits: number } | undefined> {
  const session = await findSessionForUpdate(tx, tenantId, id)
  if (session?.leaseOwner !== leaseOwner) return undefined
  const { budget } = session
  if (!budget) throw new Error(`session ${id} has no budget`)
  const { heldCredits } = budget
  const wasPaused = session.status === 'paused'
  // An agent that has not joined, or has left, uses nothing.
  if (!wasPaused && session.status !== 'running') return undefined
  if (session.usedSteps >= number) return { isPaused: wasPaused, heldCredits }
  const { isPaused, isRefused, ...used } = afterStep(session, budget, step)
  await updateUse(tx, session, { ...used, isPaused, step: isRefused ? session.usedSteps : number })
  if (isPaused && !wasPaused) {
    const data = { ...sessionEvent(session), budget_credits: heldCredits, used_credits: used.usedCredits }
    await recordEvent(tx, tenantId, 'session.paused', data)
  }
  return { isPaused, heldCredits }
}

function afterStep({ status, agent }: Session, { use, usedCredits, heldCredits }: Budget, step: Step) {
  const priceOf = (of: Use) => (agent.metered ? priceOfUse(agent.metered, of) : 0)
  const wasPaused = status === 'paused'
  if (step.type === 'answer') {
    const after = { ...use, tokens: use.tokens + step.tokens }
    const price = priceOf(after)
    return { use: after, usedCredits: price, isPaused: wasPaused || price >= heldCredits, isRefused: false }
  }
  const after = { ...use, toolCalls: use.toolCalls + 1 }
  const price = priceOf(after)
  if (wasPaused || price > heldCredits) return { use, usedCredits, isPaused: true, isRefused: true }
  return { use: after, usedCredits: price, isPaused: false, isRefused: false }
}

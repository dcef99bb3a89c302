import { keepTrying } from '@atrium/traffic/keep-trying'
import { isPassing } from '#db/is-passing.ts'
import type { Context } from '#features/context.ts'
import type { Meter } from '#ports/model/meter.ts'
import type { ModelReply } from '#ports/model/model.ts'
import type { Budget } from '../budget.ts'
import { type Step, recordStep } from '../record-step.ts'
import type { Run } from './run-model-session.ts'
import { LeaseLostError } from './session-lease.ts'

/** Records each step of the agent in the session's budget, one after the other, in a transaction each. */
export class BudgetMeter implements Meter {
  readonly #ctx: Context
  readonly #run: Run
  #heldCredits: number
  #isSpent: boolean
  #steps: number
  /** The model may call several tools at once. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(ctx: Context, run: Run, { heldCredits }: Budget) {
    this.#ctx = ctx
    this.#run = run
    this.#heldCredits = heldCredits
    this.#isSpent = run.session.status === 'paused'
    this.#steps = run.session.usedSteps
  }

  /** Whether the session is paused. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  /** The budget, as of the last step. */
  get heldCredits(): number {
    return this.#heldCredits
  }

  answered({ inputTokens, outputTokens }: ModelReply['usage']): Promise<boolean> {
    return this.#record({ type: 'answer', tokens: inputTokens + outputTokens })
  }

  mayCallTool(): Promise<boolean> {
    return this.#record({ type: 'tool_call' })
  }

  #record(step: Step): Promise<boolean> {
    const recorded = this.#last.then(() => this.#recordNext(step))
    this.#last = recorded.catch(() => undefined)
    return recorded
  }

  async #recordNext(step: Step): Promise<boolean> {
    const { session, lease, signal } = this.#run
    const recorder = { leaseOwner: lease.owner, number: ++this.#steps }
    const commit = () => this.#ctx.db.lane(session.id).transaction((tx) => recordStep(tx, session, recorder, step))
    const outcome = await keepTrying(commit, { signal, isPassing })
    if (!outcome) throw new LeaseLostError()
    this.#heldCredits = outcome.heldCredits
    this.#isSpent = outcome.isPaused
    return !outcome.isPaused
  }
}

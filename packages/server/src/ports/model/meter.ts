import type { ModelReply } from './model.ts'

/** Counts what a reply uses while it is made. Each call is recorded before it resolves, and before the next step begins. */
export interface Meter {
  /** After each answer of the model, also the last one. false: no further step may begin. */
  answered(usage: ModelReply['usage']): Promise<boolean>
  /** Before each tool call. false: the call must not be made. */
  mayCallTool(): Promise<boolean>
}

/** The meter lets no further step begin, so there is no reply. */
export class StoppedByMeterError extends Error {
  override readonly name = 'StoppedByMeterError'
}

/** Beyond this a provider's count is no count, and sums would no longer be exact. */
const maxTokens = 10_000_000

/** A count as a provider reports it: a whole number; undefined: it reports none. */
export function countTokens(reported: number | undefined): number | undefined {
  if (reported === undefined || !(reported >= 0)) return undefined
  return Math.min(Math.ceil(reported), maxTokens)
}

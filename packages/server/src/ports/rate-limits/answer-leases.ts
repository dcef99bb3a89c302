import type { LeaseCounter } from '@atrium/traffic/lease-counter'
import type { LeaseAnswer, LeaseAsk } from './primary-messages.ts'

/** What the process that started the workers does for them: counts for all. */
export function answerLeases(counter: LeaseCounter, { rateAsk: { id, wanted, unused } }: LeaseAsk): LeaseAnswer {
  for (const { key, perSecond, burst, count } of unused) counter.giveBack(key, { name: '', perSecond, burst }, count)
  const grants = wanted.map(({ key, perSecond, burst, count }) => counter.grant(key, { name: '', perSecond, burst }, count))
  return { rateAnswer: { id, grants } }
}

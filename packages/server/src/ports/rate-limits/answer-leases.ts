import type { LeaseCounter } from '@atrium/traffic/lease-counter'
import type { LeaseAnswer, LeaseAsk } from './primary-messages.ts'

/** The primary process's side: it counts for all workers. */
export function answerLeases(counter: LeaseCounter, { rateAsk: { id, wanted, unused } }: LeaseAsk): LeaseAnswer {
  for (const { key, perSecond, burst, count } of unused) counter.giveBack(key, { name: '', perSecond, burst }, count)
  const grants = wanted.map(({ key, perSecond, burst, count }) => counter.grant(key, { name: '', perSecond, burst }, count))
  return { rateAnswer: { id, grants } }
}

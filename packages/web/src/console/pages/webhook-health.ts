import { api } from '../api/api.ts'

export type Delivery = Awaited<ReturnType<typeof api.listDeliveries>>['data'][number]

/** How the newest deliveries to an endpoint went. */
export interface DeliveryHealth {
  /** How many were looked at. */
  count: number
  /** Given up. */
  failed: number
  /** Attempts failed, and another one follows. They go on for days, so these tell first that an endpoint is broken. */
  retried: number
  /** Not tried yet. */
  untried: number
  /** The last attempt that failed; undefined: none of a delivery that is not delivered. */
  lastFailure: { at: string; text: string } | undefined
}

const LOOKED_AT = 50

export async function readDeliveryHealth(endpoint: string, signal: AbortSignal): Promise<DeliveryHealth> {
  return healthOf((await api.listDeliveries({ query: { limit: LOOKED_AT, endpoint }, signal })).data)
}

/** A delivery in one word. `pending` alone does not tell whether it was tried. */
export function stateOf({ status, last_attempt_at }: Pick<Delivery, 'status' | 'last_attempt_at'>) {
  return status === 'pending' && last_attempt_at !== null ? 'retrying' : status
}

function healthOf(deliveries: readonly Delivery[]): DeliveryHealth {
  const states = deliveries.map(stateOf)
  const countOf = (state: ReturnType<typeof stateOf>) => states.filter((one) => one === state).length
  const [last] = deliveries
    .filter(({ status, last_attempt_at }) => status !== 'succeeded' && last_attempt_at !== null)
    .toSorted((a, b) => Date.parse(b.last_attempt_at ?? '') - Date.parse(a.last_attempt_at ?? ''))
  return {
    count: deliveries.length,
    failed: countOf('failed'),
    retried: countOf('retrying'),
    untried: countOf('pending'),
    lastFailure: last?.last_attempt_at ? { at: last.last_attempt_at, text: answerText(last) } : undefined,
  }
}

/** What the last attempt had for an answer, or why there was none. */
export function answerText({ response_status: status, error }: Pick<Delivery, 'response_status' | 'error'>): string {
  // The error of a wrong status names the status.
  return error ?? (status === null ? '–' : `${status}`)
}

/** "3 were given up, 2 failed and are tried again, 40 were not tried yet"; empty if nothing failed. */
export function troubleOf({ failed, retried, untried }: DeliveryHealth): string {
  if (failed + retried === 0) return ''
  const parts = [
    ...(failed > 0 ? [`${failed} ${failed === 1 ? 'was' : 'were'} given up`] : []),
    ...(retried > 0 ? [`${retried} failed and ${retried === 1 ? 'is' : 'are'} tried again`] : []),
    ...(untried > 0 ? [`${untried} ${untried === 1 ? 'was' : 'were'} not tried yet`] : []),
  ]
  return parts.join(', ')
}

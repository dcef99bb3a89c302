import { api } from '../api/api.ts'

/** How the newest deliveries to an endpoint went. */
export interface DeliveryHealth {
  /** How many were looked at. */
  count: number
  /** Given up. */
  failed: number
  /** Attempts failed, and another one follows. They go on for days, so these tell first that an endpoint is broken. */
  waiting: number
}

const LOOKED_AT = 50

export async function readDeliveryHealth(endpoint: string, signal: AbortSignal): Promise<DeliveryHealth> {
  const { data } = await api.listDeliveries({ query: { limit: LOOKED_AT, endpoint }, signal })
  return {
    count: data.length,
    failed: data.filter(({ status }) => status === 'failed').length,
    waiting: data.filter(({ status, last_attempt_at }) => status === 'pending' && last_attempt_at !== null).length,
  }
}

/** "3 failed and 2 wait for another attempt"; empty if nothing is wrong. */
export function troubleOf({ failed, waiting }: DeliveryHealth): string {
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? 'waits' : 'wait'} for another attempt`] : []),
  ]
  return parts.join(' and ')
}

/** The messages between a worker and the primary process, for counting together. The channel carries JSON. */

/** Reserves requests, and returns unused ones. */
export interface LeaseAsk {
  rateAsk: {
    id: number
    wanted: { key: string; perSecond: number; burst: number; count: number }[]
    unused: { key: string; perSecond: number; burst: number; count: number }[]
  }
}

/** In the order of the requested keys. */
export interface LeaseAnswer {
  rateAnswer: { id: number; grants: { granted: number; remaining: number; resetMs: number }[] }
}

export function isLeaseAsk(message: unknown): message is LeaseAsk {
  return typeof message === 'object' && message !== null && 'rateAsk' in message
}

export function isLeaseAnswer(message: unknown): message is LeaseAnswer {
  return typeof message === 'object' && message !== null && 'rateAnswer' in message
}

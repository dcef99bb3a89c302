/** What a worker and the process that started it say to each other to count together. The channel carries JSON. */

/** Asks for requests ahead of time, and gives back what it did not use. */
export interface LeaseAsk {
  rateAsk: {
    id: number
    wanted: { key: string; perSecond: number; burst: number; count: number }[]
    unused: { key: string; perSecond: number; burst: number; count: number }[]
  }
}

/** In the order of what was wanted. */
export interface LeaseAnswer {
  rateAnswer: { id: number; grants: { granted: number; remaining: number; resetMs: number }[] }
}

export function isLeaseAsk(message: unknown): message is LeaseAsk {
  return typeof message === 'object' && message !== null && 'rateAsk' in message
}

export function isLeaseAnswer(message: unknown): message is LeaseAnswer {
  return typeof message === 'object' && message !== null && 'rateAnswer' in message
}

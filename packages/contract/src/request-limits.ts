/** The limits of one request, which the API and Space share. Sizes are bytes of the JSON text in UTF-8. */
export const requestLimits = {
  bodyBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  jsonDepth: 64,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
} as const

/** A rate limit (GCRA): a steady rate, and the size of a burst. */
export interface RatePolicy {
  name: string
  perSecond: number
  burst: number
}

/** Of an IP address without a valid key, and of each caller of Space. */
export const addressPolicy = { name: 'address', perSecond: 20, burst: 60 } as const satisfies RatePolicy

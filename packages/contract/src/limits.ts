/** Every limit of the API. Sizes are bytes of the JSON text in UTF-8. */
export const limits = {
  bodyBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  metadataBytes: 16 * 1024,
  appStateBytes: 16 * 1024,
  itemContentBytes: 64 * 1024,
  jsonDepth: 64,
  pageDefault: 50,
  pageMax: 200,
  /** Items of one bulk curation. */
  bulkItems: 500,
  idempotencyKeyLength: 255,
  idempotencyTtlMs: 24 * 60 * 60 * 1000,
  idempotencyWaitMs: 5_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keyOverlapSeconds: 2_592_000,
  accessListEntries: 1_000,
  /** Per tenant: sessions that are launching or running. */
  activeSessions: 500,
  /** Per tenant: pending launches. */
  pendingLaunches: 10_000,
  /**
   * Per tenant: uploads that are announced and neither complete nor expired, and the total of their announced bytes.
   */
  openUploads: 1_000,
  openUploadBytes: 20 * 1024 ** 3,
  openUploadsInCollection: 100,
  /** Per tenant: artifacts whose generation is queued or running. */
  activeGenerations: 200,
} as const

/** A rate limit (GCRA): a steady rate, and the size of a burst. */
export interface RatePolicy {
  name: string
  perSecond: number
  burst: number
}

export const ratePolicies = {
  tenant: { name: 'tenant', perSecond: 500, burst: 1_000 },
  secretKey: { name: 'secret-key', perSecond: 200, burst: 400 },
  publishableKey: { name: 'publishable-key', perSecond: 50, burst: 100 },
  address: { name: 'address', perSecond: 20, burst: 60 },
} as const satisfies Record<string, RatePolicy>

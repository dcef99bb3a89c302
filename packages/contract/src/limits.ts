/** Every limit of the API, in one place. Sizes are bytes of the JSON text in UTF-8. */
export const limits = {
  bodyBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  metadataBytes: 16 * 1024,
  appStateBytes: 16 * 1024,
  itemContentBytes: 64 * 1024,
  jsonDepth: 64,
  pageDefault: 50,
  pageMax: 200,
  idempotencyKeyLength: 255,
  idempotencyTtlMs: 24 * 60 * 60 * 1000,
  idempotencyWaitMs: 5_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keyOverlapSeconds: 2_592_000,
  accessListEntries: 1_000,
  /** Of one tenant, launching or running. */
  livingSessions: 500,
  /** Of one tenant, waiting for their summon keys. */
  armedRooms: 10_000,
  /** Uploads of a tenant that are announced and neither complete nor expired, and what they announce together. */
  openUploads: 1_000,
  openUploadBytes: 20 * 1024 ** 3,
  openUploadsInCollection: 100,
  /** Of one tenant, waiting and being made. */
  artifactsInTheMaking: 200,
} as const

/** A rate limit: a steady rate and how many requests may come at once (GCRA). */
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

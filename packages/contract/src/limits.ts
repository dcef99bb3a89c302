import { addressPolicy, type RatePolicy, requestLimits } from './request-limits.ts'

/** Every limit of the API. Sizes are bytes of the JSON text in UTF-8. */
export const limits = {
  ...requestLimits,
  metadataBytes: 16 * 1024,
  appStateBytes: 16 * 1024,
  itemContentBytes: 64 * 1024,
  /** The largest upload. */
  uploadBytes: 100 * 1024 * 1024,
  pageDefault: 50,
  pageMax: 200,
  /** Keys on a page without `limit`. It is above pageMax, because callers of earlier releases expect all keys at once. */
  keysPageDefault: 1_000,
  /** Items of one bulk curation. */
  bulkItems: 500,
  idempotencyKeyLength: 255,
  idempotencyTtlMs: 24 * 60 * 60 * 1000,
  idempotencyWaitMs: 5_000,
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
  /** Per tenant: members, with those who are invited. */
  members: 100,
  /** Per tenant: webhook endpoints, with the one of `PUT /tenant/webhooks`. */
  webhookEndpoints: 20,
  /** Of the installation: operator credentials that are active. */
  operatorCredentials: 20,
} as const

export const ratePolicies = {
  tenant: { name: 'tenant', perSecond: 500, burst: 1_000 },
  secretKey: { name: 'secret-key', perSecond: 200, burst: 400 },
  publishableKey: { name: 'publishable-key', perSecond: 50, burst: 100 },
  address: addressPolicy,
  /** Sign-ins to the console, per IP address: 12 a minute. */
  signIn: { name: 'sign-in', perSecond: 0.2, burst: 12 },
} as const satisfies Record<string, RatePolicy>

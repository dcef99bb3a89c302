import type { KeySource } from '@atrium/identity/signed-token'
import type { Batcher } from '@atrium/traffic/batcher'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { Semaphore } from '@atrium/traffic/semaphore'
import type { UnreadAnswers } from '@atrium/traffic/unread-answers'
import type { Certificate } from './certificate/certificate.ts'
import type { FairShares } from './rooms/fair-shares.ts'
import type { RoomHead } from './rooms/head.ts'
import type { RoomWatch } from './rooms/room-watch.ts'
import type { RoomWriter } from './rooms/room-writer.ts'
import type { SpaceMetrics } from './metrics.ts'
import type { WakingDb } from './rooms/store.ts'
import type { UnconfirmedRestore } from './unconfirmed-restore.ts'
import type { SpaceUse } from './use/space-use.ts'

/** The trusted issuers, and the required audience of their tokens. */
export interface TrustedIssuer {
  issuer: string
  audience: string
  keys: KeySource
}

/** The dependencies of ops. */
export interface SpaceContext {
  db: WakingDb
  /** Reads that arrive at the same moment share a query. */
  heads: Batcher<string, RoomHead | undefined>
  writer: RoomWriter
  watch: RoomWatch
  /** Answers that wait to be read. */
  unread: UnreadAnswers
  /** Limits how many large pages are produced at once. */
  largePages: Semaphore
  /** Limits how many whole rooms are sent at once. */
  downloads: FairShares
  limiter: RateLimiter
  /** Counts what is written, and how many rooms are created, by caller. */
  use: SpaceUse
  certificate: Certificate
  /** The service's own origin, for which requests are signed. */
  audience: string
  metrics: SpaceMetrics
  /** While a restore is not confirmed, no room is opened. */
  restore: UnconfirmedRestore
  /**
   * The identity provider, for accounts. undefined: none is configured, and rooms with a list can be neither created
   * nor entered.
   */
  provider: TrustedIssuer | undefined
  /** The platform, for agents only. undefined: keys may not be fetched from its address. */
  platform: TrustedIssuer | undefined
}

/** The sender of a request, and whether it still waits for the answer. */
export interface Caller {
  /** The key by which limits count: an address, or the key that a trusted caller names. */
  key: string
  isGone: () => boolean
  onGone: (listener: () => void) => void
}

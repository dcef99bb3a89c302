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
import type { Db } from './rooms/store.ts'
import type { SpaceUse } from './use/space-use.ts'

/** Whose tokens are believed, and for whom they must be made. */
export interface TrustedIssuer {
  issuer: string
  audience: string
  keys: KeySource
}

/** Everything that an op may use. */
export interface SpaceContext {
  db: Db
  /** The reads of one moment share a query. */
  heads: Batcher<string, RoomHead | undefined>
  writer: RoomWriter
  watch: RoomWatch
  /** Answers that wait to be read. */
  unread: UnreadAnswers
  /** For pages that are large: only so many are made at once. */
  largePages: Semaphore
  /** Places for whole rooms that are being sent. */
  downloads: FairShares
  limiter: RateLimiter
  /** What is written, and how many rooms are made, by whom. */
  use: SpaceUse
  certificate: Certificate
  /** The identity provider, for accounts. undefined: none is configured, and rooms with a list cannot be made or entered. */
  provider: TrustedIssuer | undefined
  /** The platform, for agents alone. undefined: its address is not one that keys may be fetched from. */
  platform: TrustedIssuer | undefined
}

/** Who sent a request, and whether they still wait for the answer. */
export interface Caller {
  /** What limits count by: an address, or the key that a trusted caller names. */
  key: string
  isGone: () => boolean
  onGone: (listener: () => void) => void
}

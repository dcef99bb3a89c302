import type { KeySource } from '@atrium/identity/id-token'
import type { Batcher } from '@atrium/traffic/batcher'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { Certificate } from './certificate/certificate.ts'
import type { RoomHead } from './rooms/head.ts'
import type { RoomWatch } from './rooms/room-watch.ts'
import type { RoomWriter } from './rooms/room-writer.ts'
import type { Db } from './rooms/store.ts'

/** The identity provider whose accounts may be on a list. */
export interface Provider {
  issuer: string
  clientId: string
  keys: KeySource
}

/** Everything that an op may use. */
export interface SpaceContext {
  db: Db
  /** The reads of one moment share a query. */
  heads: Batcher<string, RoomHead | undefined>
  writer: RoomWriter
  watch: RoomWatch
  limiter: RateLimiter
  certificate: Certificate
  /** undefined: none is configured, and rooms with a list cannot be made or entered. */
  provider: Provider | undefined
}

/** Who sent a request, and whether they still wait for the answer. */
export interface Caller {
  address: string
  isGone: () => boolean
  onGone: (listener: () => void) => void
}

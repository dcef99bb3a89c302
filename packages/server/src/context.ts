import type { Logger } from 'pino'
import type { Config } from './config/config.ts'
import type { Database } from './db/database.ts'
import type { CollectionReader } from './features/collections/collection-reader.ts'
import type { HeroReader } from './features/artifacts/hero-reader.ts'
import type { ItemAdder } from './features/items/item-adder.ts'
import type { KeyCache } from './features/keys/key-cache.ts'
import type { KeyUse } from './features/keys/key-use.ts'
import type { Metrics } from './http/metrics.ts'
import type { IdentityCheck } from './ports/identity-check.ts'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { Vault } from './vault.ts'

/** Everything that a handler may use. Built by hand in open-context.ts and passed explicitly. */
export interface Context {
  config: Config
  adminTokenHash: Buffer
  log: Logger
  db: Database
  metrics: Metrics
  vault: Vault
  rateLimiter: RateLimiter
  keyCache: KeyCache
  keyUse: KeyUse
  collections: CollectionReader
  heroes: HeroReader
  itemAdder: ItemAdder
  /** undefined: no identity provider is configured. */
  identity: IdentityCheck | undefined
}

import type { Logger } from 'pino'
import type { PlatformIssuer } from './agent-issuer/agent-issuer.ts'
import type { Config } from '#config/config.ts'
import type { Database } from '#db/database.ts'
import type { SingleFlight } from '#db/single-flight.ts'
import type { EpochCache } from '#features/credits/epochs/epoch.ts'
import type { AuditReport } from './credits/ledger/audit-store.ts'
import type { ProofStep } from '#features/credits/ledger/audit.ts'
import type { Ledger } from './credits/ledger/ledger.ts'
import type { CollectionReader } from './collections/collection-reader.ts'
import type { Variants } from './artifacts/variants.ts'
import type { MediaLoader, PreviewLoader } from '#features/artifacts/operations/reading.ts'
import type { ItemAdder } from './items/item-adder.ts'
import type { KeyCache } from './keys/key-cache.ts'
import type { KeyUse } from './keys/key-use.ts'
import type { EventStreams } from './streams/event-streams.ts'
import type { AgentRooms } from '#features/sessions/agent-room.ts'
import type { Relay } from './relay/turn-credentials.ts'
import type { UsageCounter } from './usage/usage-counter.ts'
import type { Metrics } from '#http/metrics.ts'
import type { Blobs } from '#ports/blobs/blobs.ts'
import type { Egress } from '#ports/egress/egress.ts'
import type { IdentityCheck } from '#ports/identity-check.ts'
import type { Pictures } from '@atrium/media/pictures/pictures'
import type { Payments } from '#ports/payments/payments.ts'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { ResealReport } from '#crypto/vault/reseal.ts'
import type { Vault } from '#crypto/vault/vault.ts'

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
  publicPreviews: PreviewLoader
  media: MediaLoader
  itemAdder: ItemAdder
  usageCounter: UsageCounter
  streams: EventStreams
  ledger: Ledger
  epochs: EpochCache
  auditor: SingleFlight<AuditReport>
  prover: SingleFlight<ProofStep>
  resealer: SingleFlight<ResealReport>
  /** undefined: no identity provider is configured. */
  identity: IdentityCheck | undefined
  /** Signs for agents, which the Space service lets in. */
  agentIssuer: PlatformIssuer
  agentRooms: AgentRooms
  /**
   * Stops an agent's sessions, whoever launched them. Agents call it through here, because sessions depend on agents.
   */
  stopSessionsOfAgent(agentTenantId: string, agentId: string): Promise<void>
  egress: Egress
  blobs: Blobs
  pictures: Pictures
  variants: Variants
  /** undefined: nothing is sold here. */
  payments: Payments | undefined
  /** undefined: no relay is configured. */
  relay: Relay | undefined
}

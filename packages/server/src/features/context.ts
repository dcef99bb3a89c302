import type { TenantShards } from './distribution/tenant-shards.ts'
import type { RestoreWindow } from './backup/restore-window.ts'
import type { Logger } from 'pino'
import type { PlatformIssuer } from './agent-issuer/agent-issuer.ts'
import type { PlatformKeys } from './platform-keys/platform-keys.ts'
import type { Config } from '#config/config.ts'
import type { Database } from '#db/database.ts'
import type { SingleFlight } from '#db/single-flight.ts'
import type { Place } from '#features/events/outbox-store.ts'
import type { EpochCache } from '#features/credits/epochs/epoch.ts'
import type { AuditReport } from './credits/ledger/audit-store.ts'
import type { ProofStep } from '#features/credits/ledger/audit.ts'
import type { RevocationProbe } from './revocation-probe/revocation-probe.ts'
import type { Ledger } from './credits/ledger/ledger.ts'
import type { CollectionReader } from './collections/collection-reader.ts'
import type { Variants } from './artifacts/variants.ts'
import type { MediaLoader, PreviewLoader } from '#features/artifacts/artifact-loaders.ts'
import type { ItemAdder } from './items/item-adder.ts'
import type { KeyCache } from './keys/key-cache.ts'
import type { KeyUse } from './keys/key-use.ts'
import type { EventStreams } from './streams/event-streams.ts'
import type { AgentRooms } from '#features/sessions/agent-room.ts'
import type { Relay } from './relay/turn-credentials.ts'
import type { SuspensionReader } from './tenants/suspension-reader.ts'
import type { UsageCounter } from './usage/usage-counter.ts'
import type { RequestLog } from './request-log/request-log.ts'
import type { AccessLog } from '#http/access-log.ts'
import type { Metrics } from '#http/metrics.ts'
import type { Blobs } from '#ports/blobs/blobs.ts'
import type { Egress } from '#ports/egress/egress.ts'
import type { ConsoleIdentity } from '#ports/console-identity.ts'
import type { IdentityCheck } from '#ports/identity-check.ts'
import type { Pictures } from '@atrium/media/pictures/pictures'
import type { Payments } from '#ports/payments/payments.ts'
import type { ReportKeys } from '#ports/report-keys.ts'
import type { Tracing } from '#ports/tracing/tracing.ts'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { ResealReport } from '#crypto/vault/reseal.ts'
import type { Vault } from '#crypto/vault/vault.ts'

/** The dependencies of handlers. processes/open-context.ts builds them; they are passed explicitly. */
export interface Context {
  config: Config
  adminTokenHash: Buffer
  log: Logger
  /** undefined: answers are not logged. */
  accessLog: AccessLog | undefined
  db: Database
  metrics: Metrics
  /** undefined: no traces are sent. */
  tracing: Tracing | undefined
  vault: Vault
  rateLimiter: RateLimiter
  keyCache: KeyCache
  keyUse: KeyUse
  revocationProbe: RevocationProbe
  collections: CollectionReader
  suspensions: SuspensionReader
  publicPreviews: PreviewLoader
  media: MediaLoader
  /** Where the rows of tenants are, read at the start. */
  tenantShards: TenantShards
  /** Where the events are, and up to where this process has read the outbox. */
  outbox: Place
  itemAdder: ItemAdder
  usageCounter: UsageCounter
  requestLog: RequestLog
  streams: EventStreams
  ledger: Ledger
  epochs: EpochCache
  auditor: SingleFlight<AuditReport>
  prover: SingleFlight<ProofStep>
  /** Makes the root of the books of today. */
  booksMaker: SingleFlight<void>
  /** Makes the root of the heads of all chains of events today. */
  headsMaker: SingleFlight<void>
  /** Runs the audit of the ledger that an operator asked for. */
  askedAudits: SingleFlight<void>
  /** Whether a restore waits for the operator's confirmation. */
  restoreWindow: RestoreWindow
  resealer: SingleFlight<ResealReport>
  /** undefined: no identity provider is configured. */
  identity: IdentityCheck | undefined
  /** undefined: members of the console sign in with links. */
  consoleIdentity: ConsoleIdentity | undefined
  /** Signs the ID tokens of agents, which the Space service accepts. */
  agentIssuer: PlatformIssuer
  /** Sign receipts and quotes. */
  signingKeys: Readonly<Record<'receipts' | 'quotes', PlatformKeys>>
  agentRooms: AgentRooms
  /**
   * Stops an agent's sessions, whichever tenant launched them. Agents call it through here, because sessions depend
   * on agents.
   */
  stopSessionsOfAgent(agentTenantId: string, agentId: string): Promise<void>
  egress: Egress
  /** Check reports of leaked keys. */
  reportKeys: ReportKeys
  blobs: Blobs
  pictures: Pictures
  variants: Variants
  /** undefined: this installation sells nothing. */
  payments: Payments | undefined
  /** undefined: no relay is configured. */
  relay: Relay | undefined
}

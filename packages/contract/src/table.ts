import { agentOperations } from './agents.ts'
import { artifactOperations } from './artifacts.ts'
import { auditLogOperations } from './audit-log.ts'
import { catalogOperations } from './catalog.ts'
import { checkoutOperations } from './checkout.ts'
import { collectionOperations } from './collections.ts'
import { consoleOperations } from './console.ts'
import { creditOperations } from './credits.ts'
import { epochOperations } from './epochs.ts'
import { eventOperations } from './events.ts'
import { inviteOperations } from './invites.ts'
import { itemExportOperations } from './item-export.ts'
import { itemOperations } from './items.ts'
import { keyLeakOperations } from './key-leaks.ts'
import { keyOperations } from './keys.ts'
import { makingOperations } from './making.ts'
import { memberOperations } from './members.ts'
import type { Operation } from './operation.ts'
import { outcomeOperations } from './outcomes.ts'
import { operatorOperations } from './operator.ts'
import { operatorCredentialOperations } from './operator-credentials.ts'
import { operatorInstallationOperations } from './operator-installation.ts'
import { operatorLedgerOperations } from './operator-ledger.ts'
import { operatorStorageOperations } from './operator-storage.ts'
import { operatorTenantOperations } from './operator-tenants.ts'
import { providerKeyOperations } from './provider-keys.ts'
import { quoteOperations } from './quotes.ts'
import { bookOperations } from './books.ts'
import { receiptOperations } from './receipts.ts'
import { requestLogOperations } from './request-log.ts'
import { sessionOperations } from './sessions.ts'
import { shareOperations } from './share.ts'
import { spaceOperations } from './space.ts'
import { streamOperations } from './streams.ts'
import { tenantDataOperations } from './tenant-data.ts'
import { tenantLimitOperations } from './tenant-limits.ts'
import { tenantOperations } from './tenants.ts'
import { turnOperations } from './turn.ts'
import { usageOperations } from './usage.ts'
import { webhookEndpointOperations } from './webhook-endpoints.ts'
import { webhookOperations } from './webhooks.ts'

/** Every operation of the API. */
export const operations = {
  ...tenantOperations,
  ...inviteOperations,
  ...operatorTenantOperations,
  ...tenantLimitOperations,
  ...tenantDataOperations,
  ...keyOperations,
  ...keyLeakOperations,
  ...providerKeyOperations,
  ...webhookOperations,
  ...webhookEndpointOperations,
  ...eventOperations,
  ...streamOperations,
  ...usageOperations,
  ...collectionOperations,
  ...shareOperations,
  ...itemOperations,
  ...itemExportOperations,
  ...artifactOperations,
  ...makingOperations,
  ...catalogOperations,
  ...agentOperations,
  ...quoteOperations,
  ...sessionOperations,
  ...creditOperations,
  ...receiptOperations,
  ...bookOperations,
  ...epochOperations,
  ...checkoutOperations,
  ...outcomeOperations,
  ...turnOperations,
  ...operatorOperations,
  ...operatorInstallationOperations,
  ...operatorLedgerOperations,
  ...operatorStorageOperations,
  ...operatorCredentialOperations,
  ...auditLogOperations,
  ...memberOperations,
  ...requestLogOperations,
  ...consoleOperations,
  ...spaceOperations,
} as const satisfies Record<string, Operation>

export type Operations = typeof operations
export type OperationId = keyof Operations

/** The ids of the served operations: live and legacy. */
export type ServedOperationId = {
  [Id in OperationId]: Operations[Id]['status'] extends 'proposed' ? never : Id
}[OperationId]

/** The served operations, in the table's order. */
export const servedOperations: readonly Operation[] = Object.values<Operation>(operations).filter(
  (op) => op.status !== 'proposed',
)

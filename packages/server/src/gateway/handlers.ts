import { agentHandlers } from '#features/agents/handlers.ts'
import { artifactHandlers } from '#features/artifacts/handlers.ts'
import { auditLogHandlers } from '#features/audit-log/handlers.ts'
import { collectionHandlers } from '#features/collections/handlers.ts'
import { consoleHandlers } from '#features/console/handlers.ts'
import { creditHandlers } from '#features/credits/handlers.ts'
import { eventHandlers } from '#features/events/handlers.ts'
import type { Operation } from '@atrium/contract/operation'
import type { ServedOperationId } from '@atrium/contract/table'
import type { AnyHandler, Handlers } from '#features/handler.ts'
import { installationHandlers } from '#features/installation/handlers.ts'
import { itemHandlers } from '#features/items/handlers.ts'
import { keyLeakHandlers } from '#features/key-leaks/handlers.ts'
import { keyHandlers } from '#features/keys/handlers.ts'
import { limitHandlers } from '#features/limits/handlers.ts'
import { operatorCredentialHandlers } from '#features/operator-credentials/handlers.ts'
import { outcomeHandlers } from '#features/outcomes/handlers.ts'
import { providerKeyHandlers } from '#features/provider-keys/handlers.ts'
import { relayHandlers } from '#features/relay/handlers.ts'
import { requestLogHandlers } from '#features/request-log/handlers.ts'
import { sessionHandlers } from '#features/sessions/handlers.ts'
import { shareHandlers } from '#features/share/handlers.ts'
import { streamHandlers } from '#features/streams/handlers.ts'
import { tenantDataHandlers } from '#features/tenant-data/handlers.ts'
import { tenantHandlers } from '#features/tenants/handlers.ts'
import { usageHandlers } from '#features/usage/handlers.ts'
import { webhookHandlers } from '#features/webhooks/handlers.ts'
import { forwardSpace } from './forward-space.ts'

/**
 * Merges the parts into one object. If two parts handle the same operation, the type is a text, which does not match
 * Handlers.
 */
type Merged<Parts> = Parts extends readonly [infer First, ...infer Rest]
  ? keyof First & keyof Merged<Rest> extends never
    ? First & Merged<Rest>
    : 'two features handle the same operation'
  : object

function merge<const Parts extends readonly Partial<Handlers>[]>(...parts: Parts): Merged<Parts> {
  return Object.assign({}, ...parts)
}

/**
 * The handler of each operation. The compiler requires exactly one for every served operation, and rejects any
 * other.
 */
const handlers: Handlers = merge(
  agentHandlers,
  artifactHandlers,
  auditLogHandlers,
  collectionHandlers,
  consoleHandlers,
  creditHandlers,
  eventHandlers,
  installationHandlers,
  itemHandlers,
  keyHandlers,
  keyLeakHandlers,
  limitHandlers,
  operatorCredentialHandlers,
  outcomeHandlers,
  providerKeyHandlers,
  relayHandlers,
  requestLogHandlers,
  sessionHandlers,
  shareHandlers,
  streamHandlers,
  tenantDataHandlers,
  tenantHandlers,
  usageHandlers,
  webhookHandlers,
  { callSpace: forwardSpace },
)

/**
 * The handler of a served operation, with its kind. The cast is safe: the compiler has checked each handler against
 * the kind of its own operation (Handlers), and the gateway calls it with what it checked against that operation.
 */
export function handlerOf({ id, kind }: Operation): AnyHandler {
  return { kind, handle: handlers[id as ServedOperationId] } as AnyHandler
}

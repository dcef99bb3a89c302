import { agentHandlers } from '#features/agents/handlers.ts'
import { artifactHandlers } from '#features/artifacts/handlers.ts'
import { collectionHandlers } from '#features/collections/handlers.ts'
import { creditHandlers } from '#features/credits/handlers.ts'
import { eventHandlers } from '#features/events/handlers.ts'
import type { Handlers } from '#features/handler.ts'
import { installationHandlers } from '#features/installation/handlers.ts'
import { itemHandlers } from '#features/items/handlers.ts'
import { keyHandlers } from '#features/keys/handlers.ts'
import { limitHandlers } from '#features/limits/handlers.ts'
import { providerKeyHandlers } from '#features/provider-keys/handlers.ts'
import { relayHandlers } from '#features/relay/handlers.ts'
import { sessionHandlers } from '#features/sessions/handlers.ts'
import { shareHandlers } from '#features/share/handlers.ts'
import { streamHandlers } from '#features/streams/handlers.ts'
import { tenantHandlers } from '#features/tenants/handlers.ts'
import { usageHandlers } from '#features/usage/handlers.ts'
import { webhookHandlers } from '#features/webhooks/handlers.ts'
import { forwardSpace } from './forward-space.ts'

/** The parts as one object. If two parts handle the same operation, the type is a text, which does not fit Handlers. */
type Merged<Parts> = Parts extends readonly [infer First, ...infer Rest]
  ? keyof First & keyof Merged<Rest> extends never
    ? First & Merged<Rest>
    : 'two features handle the same operation'
  : object

function merge<const Parts extends readonly Partial<Handlers>[]>(...parts: Parts): Merged<Parts> {
  return Object.assign({}, ...parts)
}

/**
 * The handler of each operation. The compiler requires exactly one for every served operation, and none for any other.
 */
export const handlers: Handlers = merge(
  agentHandlers,
  artifactHandlers,
  collectionHandlers,
  creditHandlers,
  eventHandlers,
  installationHandlers,
  itemHandlers,
  keyHandlers,
  limitHandlers,
  providerKeyHandlers,
  relayHandlers,
  sessionHandlers,
  shareHandlers,
  streamHandlers,
  tenantHandlers,
  usageHandlers,
  webhookHandlers,
  { callSpace: forwardSpace },
)

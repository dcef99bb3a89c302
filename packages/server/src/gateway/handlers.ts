import { artifactHandlers } from '#features/artifacts/handlers.ts'
import { collectionHandlers } from '#features/collections/handlers.ts'
import { installationHandlers } from '#features/installation/handlers.ts'
import { itemHandlers } from '#features/items/handlers.ts'
import { keyHandlers } from '#features/keys/handlers.ts'
import { limitHandlers } from '#features/limits/handlers.ts'
import { providerKeyHandlers } from '#features/provider-keys/handlers.ts'
import { relayHandlers } from '#features/relay/handlers.ts'
import { shareHandlers } from '#features/share/handlers.ts'
import { tenantHandlers } from '#features/tenants/handlers.ts'
import { usageHandlers } from '#features/usage/handlers.ts'
import { getAgent } from '#features/agents/operations/get-agent.ts'
import { getAgentRatings } from '#features/agents/operations/get-agent-ratings.ts'
import { listAgents } from '#features/agents/operations/list-agents.ts'
import { listCatalog } from '#features/agents/operations/list-catalog.ts'
import { moderateAgent } from '#features/agents/operations/moderate-agent.ts'
import { registerAgent } from '#features/agents/operations/register-agent.ts'
import { setAgentStatus } from '#features/agents/operations/set-agent-status.ts'
import { updateAgent } from '#features/agents/operations/update-agent.ts'
import { createCheckout } from '#features/credits/checkout/operations/create-checkout.ts'
import { getCheckout } from '#features/credits/checkout/operations/get-checkout.ts'
import { auditBooks } from '#features/credits/operations/audit-books.ts'
import { getSession } from '#features/sessions/operations/get-session.ts'
import { issueIdToken } from '#features/sessions/operations/issue-id-token.ts'
import { launchSession } from '#features/sessions/operations/launch-session.ts'
import { markSessionJoined } from '#features/sessions/operations/mark-session-joined.ts'
import { stopSession } from '#features/sessions/operations/stop-session.ts'
import { summonSession } from '#features/sessions/operations/summon-session.ts'
import { listAgentTools } from '#features/sessions/operations/list-agent-tools.ts'
import { rateAgent } from '#features/sessions/operations/rate-agent.ts'
import { grantCoupon } from '#features/credits/operations/grant-coupon.ts'
import { lookUpWallet } from '#features/credits/operations/look-up-wallet.ts'
import { redeemWallet } from '#features/credits/operations/redeem-wallet.ts'
import { getEpoch } from '#features/credits/epochs/operations/get-epoch.ts'
import { listEpochs } from '#features/credits/epochs/operations/list-epochs.ts'
import { publishEpoch } from '#features/credits/epochs/operations/publish-epoch.ts'
import { listEvents } from '#features/events/operations/list-events.ts'
import { getWebhook } from '#features/webhooks/operations/get-webhook.ts'
import { listDeliveries } from '#features/webhooks/operations/list-deliveries.ts'
import { resendDelivery } from '#features/webhooks/operations/resend-delivery.ts'
import { setWebhook } from '#features/webhooks/operations/set-webhook.ts'
import { testWebhook } from '#features/webhooks/operations/test-webhook.ts'
import { forwardSpace } from './forward-space.ts'
import type { Handlers } from '#features/handler.ts'

/** The parts as one object. If two parts handle the same operation, the type is a text, which does not fit Handlers. */
type Merged<Parts> = Parts extends readonly [infer First, ...infer Rest]
  ? keyof First & keyof Merged<Rest> extends never
    ? First & Merged<Rest>
    : 'two features handle the same operation'
  : object

function merge<const Parts extends readonly Partial<Handlers>[]>(...parts: Parts): Merged<Parts> {
  return Object.assign({}, ...parts)
}

/** The handler of each operation. The compiler requires exactly one for every served operation, and none for any other. */
export const handlers: Handlers = merge(
  artifactHandlers,
  collectionHandlers,
  installationHandlers,
  itemHandlers,
  keyHandlers,
  limitHandlers,
  providerKeyHandlers,
  relayHandlers,
  shareHandlers,
  tenantHandlers,
  usageHandlers,
  {
    callSpace: forwardSpace,
    setWebhook,
    getWebhook,
    listDeliveries,
    resendDelivery,
    testWebhook,
    listEvents,
    listCatalog,
    getAgentRatings,
    registerAgent,
    listAgents,
    getAgent,
    updateAgent,
    setAgentStatus,
    moderateAgent,
    createCheckout,
    getCheckout,
    publishEpoch,
    listEpochs,
    getEpoch,
    launchSession,
    summonSession,
    getSession,
    stopSession,
    markSessionJoined,
    issueIdToken,
    listAgentTools,
    rateAgent,
    lookUpWallet,
    redeemWallet,
    grantCoupon,
    auditBooks,
  } satisfies Partial<Handlers>,
)

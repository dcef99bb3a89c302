import { type EventType, eventSpecs } from '@atrium/contract/event-types'
import { FairSemaphore } from '@atrium/media/pictures/fair-semaphore'
import { newId } from '#crypto/random.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { eventView } from '../events/event.ts'
import { numberInTransaction } from '../events/numbering-store.ts'
import { commitInTwoPhases, eventChannel } from '../events/store.ts'
import type { HandlerOf, Handlers } from '../handler.ts'
import type { Context } from '../context.ts'
import { sendEvent } from './send-event.ts'
import {
  deleteWebhook,
  findWebhook,
  findWebhookForUpdate,
  insertSecret,
  insertWebhook,
  listSecrets,
  listWebhooks,
  lockEndpoints,
  retireSecret,
  updateWebhook,
} from './store.ts'
import { deliveryView, endpointView, webhookView } from './views.ts'
import { type EndpointRef, keyOf, newSecret, openSecret, sealSecret, type Webhook } from './webhook.ts'
import { limits } from '@atrium/contract/limits'
import { defaultEndpoint } from '@atrium/contract/tokens'
import type { Tx } from '#db/database.ts'
import { recordAudit } from '#features/audit-log/record-audit.ts'
import { cutPage, filteredList, makeCursor, readCursor } from '#http/cursor.ts'
import { requestTime } from '#http/request-time.ts'
import { listDeliveries as listRows } from './delivery-store.ts'
import { markResent, removeQueue } from './queue-store.ts'
import { endPause, queueAgain, recoverFailed } from './resend-store.ts'

/** Numbers all earlier events under the old settings, so that a new endpoint does not receive them. */
async function numberEarlier(ctx: Pick<Context, 'tenantShards'>, tx: Tx, tenantId: string): Promise<void> {
  while ((await numberInTransaction(tx, [tenantId], 500, ctx.tenantShards)) === 500);
}

function checkUrl(ctx: Pick<Context, 'egress'>, text: string): string {
  const check = ctx.egress.checkUrl(text)
  if (!check.ok) throw invalid('/url', check.message)
  return check.url.href
}

async function addSecret(ctx: Pick<Context, 'vault'>, tx: Tx, ref: EndpointRef): Promise<string> {
  const secret = newSecret()
  const id = newId('key')
  await insertSecret(tx, ref, { id, sealed: sealSecret(ctx.vault, ref, id, secret) })
  return secret
}

const setWebhook: HandlerOf<'setWebhook'> = async ({ ctx, tx, tenantId, body }) => {
  const url = checkUrl(ctx, body.url)
  const ref = { tenantId, endpointId: defaultEndpoint }
  await numberEarlier(ctx, tx, tenantId)
  const before = await findWebhook(tx, ref)
  if (!before) await checkCount(tx, tenantId)
  const { events = null, enabled = true } = body
  const webhook: Webhook = { ...ref, url, events, enabled, description: before?.description ?? null }
  const isFirst = await insertWebhook(tx, webhook)
  if (!isFirst) await updateWebhook(tx, webhook)
  // The worker that sends for this tenant reads the new setting at once.
  tx.wake(eventChannel)
  if (!isFirst && !body.rotate_secret) return { status: 200, data: webhookView(webhook) }
  if (!isFirst) await retireSecret(tx, ref)
  return { status: 200, data: { ...webhookView(webhook), secret: await addSecret(ctx, tx, ref) } }
}

const getWebhook: HandlerOf<'getWebhook'> = async ({ ctx, tenantId }) => {
  const webhook = await findWebhook(ctx.db, { tenantId, endpointId: defaultEndpoint })
  if (!webhook) throw new ApiError('not_found', { message: 'No webhook is set.' })
  return { status: 200, data: webhookView(webhook) }
}

async function checkCount(tx: Tx, tenantId: string): Promise<void> {
  await lockEndpoints(tx, tenantId)
  if ((await listWebhooks(tx, tenantId)).length < limits.webhookEndpoints) return
  const message = `The tenant has ${limits.webhookEndpoints} webhook endpoints, which is the most. Delete one first.`
  throw new ApiError('state_conflict', { message })
}

const createWebhookEndpoint: HandlerOf<'createWebhookEndpoint'> = async ({ ctx, tx, tenantId, body }) => {
  const url = checkUrl(ctx, body.url)
  await numberEarlier(ctx, tx, tenantId)
  await checkCount(tx, tenantId)
  const { events = null, enabled = true, description = null } = body
  const webhook: Webhook = { tenantId, endpointId: newId('webhookEndpoint'), url, events, enabled, description }
  await insertWebhook(tx, webhook)
  return { status: 201, data: { ...endpointView(webhook), secret: await addSecret(ctx, tx, webhook) } }
}

const listWebhookEndpoints: HandlerOf<'listWebhookEndpoints'> = async ({ ctx, tenantId }) => ({
  status: 200,
  data: (await listWebhooks(ctx.db, tenantId)).map(endpointView),
})

async function existing(found: Promise<Webhook | undefined>): Promise<Webhook> {
  const webhook = await found
  if (!webhook) throw new ApiError('not_found', { message: 'There is no such webhook endpoint.' })
  return webhook
}

const getWebhookEndpoint: HandlerOf<'getWebhookEndpoint'> = async ({ ctx, tenantId, params }) => ({
  status: 200,
  data: endpointView(await existing(findWebhook(ctx.db, { tenantId, endpointId: params.id }))),
})

const updateWebhookEndpoint: HandlerOf<'updateWebhookEndpoint'> = async ({ ctx, tx, tenantId, params, body }) => {
  const { url, rotate_secret: rotates, ...rest } = body
  const ref = { tenantId, endpointId: params.id }
  await numberEarlier(ctx, tx, tenantId)
  const before = await existing(findWebhookForUpdate(tx, ref))
  const webhook: Webhook = { ...before, ...rest, ...(url !== undefined && { url: checkUrl(ctx, url) }) }
  await updateWebhook(tx, webhook)
  tx.wake(eventChannel)
  if (!rotates) return { status: 200, data: endpointView(webhook) }
  await retireSecret(tx, ref)
  return { status: 200, data: { ...endpointView(webhook), secret: await addSecret(ctx, tx, ref) } }
}

const deleteWebhookEndpoint: HandlerOf<'deleteWebhookEndpoint'> = async ({ ctx, tx, tenantId, params }) => {
  const ref = { tenantId, endpointId: params.id }
  await existing(findWebhookForUpdate(tx, ref))
  await deleteWebhook(tx, ref)
  if (ctx.tenantShards.isSpread) {
    await removeQueue(tx, ref)
    await commitInTwoPhases(tx)
  }
  tx.wake(eventChannel)
  return { status: 204 }
}

const recoverBatch = 1_000
/** Callers and proxies wait for half a minute. Another batch begins within this time only. */
const recoverMs = 5_000

const recoverDeliveries: HandlerOf<'recoverDeliveries'> = async ({ ctx, tenantId, params, body, audit }) => {
  const ref = { tenantId, endpointId: params.id }
  const { enabled } = await existing(findWebhook(ctx.db, ref))
  if (!enabled) throw new ApiError('state_conflict', { message: 'The webhook endpoint is disabled.' })
  const { pending = false } = body
  const since = requestTime(body.since, '/since')
  const list = filteredList(`recover:${keyOf(ref)}`, { since, pending })
  const endsAtMs = performance.now() + recoverMs
  let queued = 0
  let isFirst = true
  // Batches, so that no transaction holds many rows. A call that is cut short is repeated.
  for (let after = readCursor(list, body.cursor); ;) {
    const { queued: more, next } = await ctx.db.transaction(async (tx) => {
      const some = await recoverFailed(tx, ref, { after, since, pending, limit: recoverBatch })
      if (some.queued > 0) {
        await endPause(tx, ref)
        if (ctx.tenantShards.isSpread) await markResent(tx, ref)
        tx.wake(eventChannel)
      }
      if (isFirst) await recordAudit(tx, audit)
      return some
    })
    queued += more
    if (next === undefined) return { status: 200, data: { queued } }
    if (performance.now() >= endsAtMs) return { status: 200, data: { queued, next_cursor: makeCursor(list, next) } }
    isFirst = false
    after = next
  }
}

/**
 * Limits the test events that are sent at once: each holds a connection to an endpoint for up to 15 s. A tenant may test all
 * its endpoints at once; tests without a permit wait for up to 5 s.
 */
const tests = new FairSemaphore({
  permits: 64,
  permitsPerTenant: 4,
  maxWaiting: 256,
  maxWaitingPerTenant: limits.webhookEndpoints - 4,
  timeoutMs: 5_000,
  busy: () =>
    new ApiError('rate_limited', {
      message: 'Too many test events are being sent. Try again when their endpoints have answered.',
      retryAfterSeconds: 5,
    }),
})

const testWebhook: HandlerOf<'testWebhook'> = async ({ ctx, tenantId, body }) => {
  const ref = { tenantId, endpointId: body.endpoint ?? defaultEndpoint }
  const webhook = await findWebhook(ctx.db, ref)
  if (!webhook) throw new ApiError('not_found', { message: 'No webhook is set.' })
  const attempt = await tests.run(tenantId, 1, async () => {
    const sealed = (await listSecrets(ctx.db, [ref])).get(keyOf(ref)) ?? []
    const secrets = sealed.map((one) => openSecret(ctx.vault, ref, one))
    return sendEvent(ctx, { url: webhook.url, secrets }, exampleOf(tenantId, body.type ?? 'item.created'))
  })
  const { succeeded: delivered, responseStatus, error, ms } = attempt
  return { status: 200, data: { delivered, response_status: responseStatus, error, duration_ms: ms } }
}

function exampleOf(tenantId: string, type: EventType) {
  return eventView({
    id: newId('event'),
    type,
    createdAt: new Date().toISOString(),
    tenantId,
    sequence: 0,
    data: { ...eventSpecs[type].example, test: true },
    hash: null,
    hashBefore: null,
  })
}

const listDeliveries: HandlerOf<'listDeliveries'> = async ({ ctx, tenantId, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const ref = { tenantId, endpointId: query.endpoint ?? defaultEndpoint }
  if (query.endpoint !== undefined) await existing(findWebhook(ctx.db, ref))
  const list = `deliveries:${keyOf(ref)}`
  const before = readCursor(list, query.cursor)
  const rows = await listRows(ctx.db, ref, before === 0 ? Number.MAX_SAFE_INTEGER : before, limit + 1)
  const { page, nextCursor } = cutPage(
    list,
    rows.map((row) => ({ ...row, seq: row.sequence })),
    limit,
  )
  return { status: 200, data: page.map((one) => deliveryView(one, query.endpoint !== undefined)), nextCursor }
}

const resendDelivery: HandlerOf<'resendDelivery'> = async ({ ctx, tx, tenantId, params, query }) => {
  const ref = { tenantId, endpointId: query.endpoint ?? defaultEndpoint }
  const webhook = await findWebhookForUpdate(tx, ref)
  const delivery = await queueAgain(tx, ref, params.id)
  if (!delivery) throw new ApiError('not_found')
  if (!webhook?.enabled) throw new ApiError('state_conflict', { message: 'The webhook is disabled.' })
  await endPause(tx, ref)
  if (ctx.tenantShards.isSpread) await markResent(tx, ref)
  tx.wake(eventChannel)
  return { status: 202, data: deliveryView(delivery, query.endpoint !== undefined) }
}

export const webhookHandlers = {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getWebhook,
  getWebhookEndpoint,
  listDeliveries,
  listWebhookEndpoints,
  recoverDeliveries,
  resendDelivery,
  setWebhook,
  testWebhook,
  updateWebhookEndpoint,
} satisfies Partial<Handlers>

import { type EventType, eventSpecs } from '@atrium/contract/event-types'
import { newId } from '#crypto/random.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { eventView } from '#features/events/event.ts'
import { notifyWorkers, numberEvents } from '#features/events/store.ts'
import type { HandlerOf } from '#features/handler.ts'
import { sendEvent } from '../send-event.ts'
import { findWebhook, insertSecret, insertWebhook, listSecrets, retireSecret, updateWebhook } from '../store.ts'
import { type Webhook, newSecret, openSecret, sealSecret, webhookView } from '../webhook.ts'

export const setWebhook: HandlerOf<'setWebhook'> = async ({ ctx, tx, tenantId, body }) => {
  const check = ctx.egress.checkUrl(body.url)
  if (!check.ok) throw invalid('/url', check.message)
  const webhook: Webhook = { tenantId, url: check.url.href, events: body.events ?? null, enabled: body.enabled ?? true }
  // Numbers all earlier events under the old setting, so that the new endpoint does not receive them.
  while ((await numberEvents(tx, [tenantId], 500)) === 500);
  const isFirst = await insertWebhook(tx, webhook)
  if (!isFirst) await updateWebhook(tx, webhook)
  // The worker that sends for this tenant reads the new setting at once.
  await notifyWorkers(tx)
  if (!isFirst && !body.rotate_secret) return { status: 200, data: webhookView(webhook) }
  if (!isFirst) await retireSecret(tx, tenantId)
  const secret = newSecret()
  const id = newId('key')
  await insertSecret(tx, tenantId, { id, sealed: sealSecret(ctx.vault, tenantId, id, secret) })
  return { status: 200, data: { ...webhookView(webhook), secret } }
}

export const getWebhook: HandlerOf<'getWebhook'> = async ({ ctx, tenantId }) => {
  const webhook = await findWebhook(ctx.db, tenantId)
  if (!webhook) throw new ApiError('not_found', { message: 'No webhook is set.' })
  return { status: 200, data: webhookView(webhook) }
}

export const testWebhook: HandlerOf<'testWebhook'> = async ({ ctx, tenantId, body }) => {
  const webhook = await findWebhook(ctx.db, tenantId)
  if (!webhook) throw new ApiError('not_found', { message: 'No webhook is set.' })
  const sealed = (await listSecrets(ctx.db, [tenantId])).get(tenantId) ?? []
  const secrets = sealed.map((one) => openSecret(ctx.vault, tenantId, one))
  const startedAt = performance.now()
  const attempt = await sendEvent(ctx, { url: webhook.url, secrets }, exampleOf(tenantId, body.type ?? 'item.created'))
  const { succeeded: delivered, responseStatus, error } = attempt
  const durationMs = Math.round(performance.now() - startedAt)
  return { status: 200, data: { delivered, response_status: responseStatus, error, duration_ms: durationMs } }
}

function exampleOf(tenantId: string, type: EventType) {
  return eventView({
    id: newId('event'),
    type,
    createdAt: new Date().toISOString(),
    tenantId,
    sequence: 0,
    data: { ...eventSpecs[type].example, test: true },
  })
}

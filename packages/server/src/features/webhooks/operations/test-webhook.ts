import { eventSpecs, type EventType } from '@atrium/contract/event-types'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { newId } from '#crypto/random.ts'
import { eventView } from '#features/events/event.ts'
import { sendEvent } from '../send-event.ts'
import { findWebhook, listSecrets } from '../store.ts'
import { openSecret } from '../webhook-secret.ts'

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

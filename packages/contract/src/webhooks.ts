import Type from 'typebox'
import { eventExample, eventType } from './events.ts'
import { operation } from './operation.ts'
import { closed, id, nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'

const events = Type.Array(eventType, { description: 'The event types to send.' })
const configuration = {
  url: Type.String(),
  events,
  enabled: Type.Boolean(),
}

export const Webhook = Type.Object(configuration)

export const Delivery = Type.Object({
  id: id('event', 'The event of the delivery, sent as webhook-id with every attempt.'),
  type: eventType,
  status: oneOf(['pending', 'succeeded', 'failed']),
  attempts: Type.Integer({ minimum: 0 }),
  response_status: nullable(Type.Integer({ description: 'Status of the last attempt; null without a response.' })),
  error: nullable(Type.String({ description: 'Why the last attempt failed.' })),
  created_at: Timestamp,
  last_attempt_at: nullable(Timestamp),
  next_attempt_at: nullable(Timestamp),
})

const webhookExample = {
  url: 'https://harbour.example/hooks/atrium',
  events: ['item.created', 'collection.state_changed'],
  enabled: true,
}
const deliveryExample = {
  id: eventExample.id,
  type: eventExample.type,
  status: 'succeeded',
  attempts: 1,
  response_status: 204,
  error: null,
  created_at: '2026-11-20T09:30:00.000Z',
  last_attempt_at: '2026-11-20T09:30:00.000Z',
  next_attempt_at: null,
}

export const webhookOperations = {
  setWebhook: operation({
    id: 'setWebhook',
    kind: 'write',
    method: 'PUT',
    path: '/tenant/webhooks',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Set the webhook',
    description:
      'Sets the endpoint for events. Deliveries are signed (Standard Webhooks), at least once, with 10 attempts ' +
      'over 75 hours with jitter, 15 seconds per attempt, no redirects, public addresses only. A 410 disables the ' +
      'webhook at once; so do five days of failures only. `secret` (whsec_…) is returned only when it is new: the ' +
      'first time and with `rotate_secret`. For 24 hours after a rotation both secrets sign. Absent `events`: all ' +
      'types. Absent `enabled`: true. While the webhook is disabled nothing is queued; deliveries that were queued ' +
      'before continue once it is enabled again.',
    caller: 'secret',
    body: closed({
      url: Type.String({ minLength: 1, maxLength: 2_000, description: 'https' }),
      events: Type.Optional(Type.Array(eventType, { minItems: 1, uniqueItems: true })),
      enabled: Type.Optional(Type.Boolean()),
      rotate_secret: Type.Optional(Type.Boolean()),
    }),
    answers: {
      200: {
        description: 'The webhook.',
        data: Type.Object({
          ...configuration,
          secret: Type.Optional(Type.String({ description: 'Signs the deliveries. Returned once.' })),
        }),
        oneTimeSecret: true,
      },
    },
    example: { body: { url: webhookExample.url, events: webhookExample.events }, data: { ...webhookExample, secret: 'whsec_…' } },
  }),
  getWebhook: operation({
    id: 'getWebhook',
    kind: 'read',
    method: 'GET',
    path: '/tenant/webhooks',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Read the webhook',
    description: 'Without its secret. 404 while none is set.',
    caller: 'secret',
    answers: { 200: { description: 'The webhook.', data: Webhook } },
    errors: ['not_found'],
    example: { data: webhookExample },
  }),
  listDeliveries: operation({
    id: 'listDeliveries',
    kind: 'read',
    method: 'GET',
    path: '/tenant/webhooks/deliveries',
    status: 'live',
    tag: 'Webhooks',
    summary: 'List deliveries',
    description: 'Newest first. Kept for 30 days, like the events.',
    caller: 'secret',
    query: PageQuery,
    answers: { 200: { description: 'A page of deliveries.', data: Type.Array(Delivery), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [deliveryExample] },
  }),
  resendDelivery: operation({
    id: 'resendDelivery',
    kind: 'write',
    method: 'POST',
    path: '/tenant/webhooks/deliveries/{id}/resend',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Send a delivery again',
    description:
      'Queues the delivery again in any state, with the same webhook-id and ten attempts like a new one. 409 ' +
      '`state_conflict` while the webhook is disabled.',
    caller: 'secret',
    idempotency: 'accepted',
    params: Type.Object({ id: id('event') }),
    answers: { 202: { description: 'Queued.', data: Delivery } },
    errors: ['state_conflict'],
    example: { data: { ...deliveryExample, status: 'pending', next_attempt_at: '2026-11-20T09:31:00.000Z' } },
  }),
  testWebhook: operation({
    id: 'testWebhook',
    kind: 'read',
    method: 'POST',
    path: '/tenant/webhooks/test',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Send a test event',
    description:
      'Sends one signed example of the type (default `item.created`, sequence 0, `data.test` true) and returns the ' +
      'response of the endpoint. It is sent once, is not listed, and does not count as a failure. 404 while no ' +
      'webhook is set.',
    caller: 'secret',
    body: closed({ type: Type.Optional(eventType) }),
    answers: {
      200: {
        description: 'The response of the endpoint.',
        data: Type.Object({
          delivered: Type.Boolean({ description: 'Whether the endpoint answered 2xx.' }),
          response_status: nullable(Type.Integer()),
          error: nullable(Type.String()),
          duration_ms: Type.Integer({ minimum: 0 }),
        }),
      },
    },
    errors: ['not_found'],
    example: { body: { type: 'item.created' }, data: { delivered: true, response_status: 204, error: null, duration_ms: 83 } },
  }),
}

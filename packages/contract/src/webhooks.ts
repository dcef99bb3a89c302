import { Type } from './type.ts'
import { eventExample, eventType } from './events.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, endpointId, id, nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'
import { defaultEndpoint } from './tokens.ts'

/** What an endpoint is set to. */
export const configuration = {
  url: Type.String(),
  events: Type.Array(eventType, { description: 'The event types to send.' }),
  enabled: Type.Boolean(),
}

export const Webhook = Type.Object(configuration)

export const url = Type.String({ minLength: 1, maxLength: 2_000, description: 'https' })
export const chosenEvents = Type.Array(eventType, { minItems: 1, uniqueItems: true })
export const secret = Type.Optional(Type.String({ description: 'Signs the deliveries. Returned once.' }))

const attempt = Type.Object({
  at: Timestamp,
  status: nullable(Type.Integer({ description: 'null: no answer.' })),
  ms: Type.Integer({ minimum: 0, description: 'Until the answer or the failure.' }),
  answer: nullable(Type.String({ description: 'The first 1,024 bytes of the body of the answer, as text.' })),
  error: nullable(Type.String({ description: 'Why it failed.' })),
})

export const Delivery = Type.Object({
  id: id('event', 'The event of the delivery, sent as webhook-id with every attempt.'),
  endpoint: endpointId('Where it is sent.'),
  type: eventType,
  status: oneOf(['pending', 'succeeded', 'failed']),
  attempts: Type.Union([Type.Integer({ minimum: 0 }), Type.Array(attempt)], {
    description: 'How many there were. With `endpoint` in the request: the last 20 of them, the oldest first.',
  }),
  response_status: nullable(Type.Integer({ description: 'Status of the last attempt; null without a response.' })),
  error: nullable(Type.String({ description: 'Why the last attempt failed.' })),
  created_at: Timestamp,
  last_attempt_at: nullable(Timestamp),
  next_attempt_at: nullable(Timestamp),
})

export const webhookExample = {
  url: 'https://harbour.example/hooks/atrium',
  events: ['item.created', 'collection.state_changed'],
  enabled: true,
}
const deliveryExample = {
  id: eventExample.id,
  endpoint: defaultEndpoint,
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
      'webhook at once; so do five days of failures only.\n\n' +
      '`secret` (whsec_…) is returned only when it is new: the ' +
      'first time and with `rotate_secret`. For 24 hours after a rotation both secrets sign.\n\n' +
      'Absent `events`: all ' +
      'types. Absent `enabled`: true. While the webhook is disabled nothing is queued; deliveries that were queued ' +
      'before continue once it is enabled again.',
    caller: 'secret',
    roles: developers,
    audited: true,
    body: closed({
      url,
      events: Type.Optional(chosenEvents),
      enabled: Type.Optional(Type.Boolean()),
      rotate_secret: Type.Optional(Type.Boolean()),
    }),
    answers: {
      200: {
        description: 'The webhook.',
        data: Type.Object({ ...configuration, secret }),
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
    roles: analysts,
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
    description:
      'Of one endpoint, newest first. Kept for 30 days, like the events. With `endpoint`, `attempts` is the list of the ' +
      'attempts instead of their number. 404 if the endpoint does not exist.',
    caller: 'secret',
    roles: analysts,
    query: closed({
      ...PageQuery.properties,
      endpoint: Type.Optional(endpointId('Default: `default`, and `attempts` is a number.')),
    }),
    answers: { 200: { description: 'A page of deliveries.', data: Type.Array(Delivery), paged: true } },
    errors: ['invalid_cursor', 'not_found'],
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
    roles: developers,
    idempotency: 'accepted',
    params: Type.Object({ id: id('event') }),
    query: closed({ endpoint: Type.Optional(endpointId('The endpoint of the delivery. Default: `default`.')) }),
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
      'webhook is set. A tenant has few such requests under way at once; others wait a moment, and then get 429 `rate_limited`.',
    caller: 'secret',
    roles: developers,
    bodyOptional: true,
    body: closed({
      type: Type.Optional(eventType),
      endpoint: Type.Optional(endpointId('Where to send it. Default: `default`.')),
    }),
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

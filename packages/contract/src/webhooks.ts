import { Type } from './type.ts'
import { eventExample, eventType } from './events.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { limits } from './limits.ts'
import { closed, endpointId, id, nullable, oneOf, PageQuery, pageQuery, Timestamp } from './schemas.ts'
import { defaultEndpoint } from './tokens.ts'

const events = Type.Array(eventType, { description: 'The event types to send.' })
const configuration = {
  url: Type.String(),
  events,
  enabled: Type.Boolean(),
}

export const Webhook = Type.Object(configuration)

const EndpointParams = Type.Object({
  id: endpointId('The endpoint. `default` is the one of `PUT /tenant/webhooks`.'),
})
const description = Type.String({ maxLength: 200, description: 'For people. Sent to nobody.' })
const url = Type.String({ minLength: 1, maxLength: 2_000, description: 'https' })
const chosenEvents = Type.Array(eventType, { minItems: 1, uniqueItems: true })

export const WebhookEndpoint = Type.Object({
  id: endpointId('`default`, or whe_….'),
  ...configuration,
  description: nullable(Type.String()),
})
const secret = Type.Optional(Type.String({ description: 'Signs the deliveries. Returned once.' }))
const NewWebhookEndpoint = Type.Object({ ...WebhookEndpoint.properties, secret })

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

const webhookExample = {
  url: 'https://harbour.example/hooks/atrium',
  events: ['item.created', 'collection.state_changed'],
  enabled: true,
}
const endpointExample = { id: 'whe_4fRzQ0Ck2mXyT7bNdW5sPa', ...webhookExample, description: 'The warehouse' }
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
  createWebhookEndpoint: operation({
    id: 'createWebhookEndpoint',
    kind: 'write',
    method: 'POST',
    path: '/tenant/webhooks/endpoints',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Add a webhook endpoint',
    description:
      `Adds an endpoint beside the others, up to ${limits.webhookEndpoints} with the one of \`PUT /tenant/webhooks\`. Each has ` +
      'its own secret, events, order and pauses: one that fails does not delay the others. It receives the events that ' +
      'are recorded from now on. 409 `state_conflict`: there are as many as there may be.\n\n' +
      '`secret` (whsec_…) is returned only here. If the answer is lost, repeat the request with its Idempotency-Key, or ' +
      'rotate the secret.',
    caller: 'secret',
    roles: developers,
    audited: true,
    idempotency: 'accepted',
    body: closed({
      url,
      events: Type.Optional(chosenEvents),
      description: Type.Optional(description),
      enabled: Type.Optional(Type.Boolean()),
    }),
    answers: { 201: { description: 'The endpoint.', data: NewWebhookEndpoint, oneTimeSecret: true } },
    errors: ['state_conflict'],
    example: {
      body: { url: endpointExample.url, events: endpointExample.events, description: endpointExample.description },
      data: { ...endpointExample, secret: 'whsec_…' },
    },
  }),
  listWebhookEndpoints: operation({
    id: 'listWebhookEndpoints',
    kind: 'read',
    method: 'GET',
    path: '/tenant/webhooks/endpoints',
    status: 'live',
    tag: 'Webhooks',
    summary: 'List webhook endpoints',
    description: '`default` first, then the oldest first. Without secrets.',
    caller: 'secret',
    roles: analysts,
    answers: { 200: { description: 'All endpoints.', data: Type.Array(WebhookEndpoint) } },
    example: { data: [endpointExample] },
  }),
  getWebhookEndpoint: operation({
    id: 'getWebhookEndpoint',
    kind: 'read',
    method: 'GET',
    path: '/tenant/webhooks/endpoints/{id}',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Read a webhook endpoint',
    description: 'Without its secret.',
    caller: 'secret',
    roles: analysts,
    params: EndpointParams,
    answers: { 200: { description: 'The endpoint.', data: WebhookEndpoint } },
    errors: ['not_found'],
    example: { data: endpointExample },
  }),
  updateWebhookEndpoint: operation({
    id: 'updateWebhookEndpoint',
    kind: 'write',
    method: 'PATCH',
    path: '/tenant/webhooks/endpoints/{id}',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Change a webhook endpoint',
    description:
      'Changes what the body names. `events: null` means all types. While the endpoint is disabled nothing is queued for ' +
      'it; what was queued before continues once it is enabled again. `rotate_secret` returns a new secret; for 24 hours ' +
      'both sign.',
    caller: 'secret',
    roles: developers,
    audited: true,
    params: EndpointParams,
    body: closed({
      url: Type.Optional(url),
      events: Type.Optional(nullable(chosenEvents)),
      description: Type.Optional(nullable(description)),
      enabled: Type.Optional(Type.Boolean()),
      rotate_secret: Type.Optional(Type.Boolean()),
    }),
    answers: { 200: { description: 'The endpoint.', data: NewWebhookEndpoint, oneTimeSecret: true } },
    errors: ['not_found'],
    example: { body: { description: 'The new warehouse' }, data: { ...endpointExample, description: 'The new warehouse' } },
  }),
  deleteWebhookEndpoint: operation({
    id: 'deleteWebhookEndpoint',
    kind: 'write',
    method: 'DELETE',
    path: '/tenant/webhooks/endpoints/{id}',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Delete a webhook endpoint',
    description: 'What is queued for it is not sent any more. An attempt that is under way still ends.',
    caller: 'secret',
    roles: developers,
    audited: true,
    params: EndpointParams,
    answers: { 204: { description: 'Deleted.' } },
    errors: ['not_found'],
  }),
  recoverDeliveries: operation({
    id: 'recoverDeliveries',
    kind: 'read',
    method: 'POST',
    path: '/tenant/webhooks/endpoints/{id}/recover',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Send failed deliveries again',
    description:
      'Queues all failed deliveries to the endpoint again whose event is not older than `since`, with ten attempts like ' +
      'new ones; with `pending`, also those that wait for their next attempt or for the end of a pause of the endpoint. ' +
      '409 `state_conflict` while the endpoint is disabled. A call ends after some seconds: with very many deliveries, the answer has a `next_cursor`, ' +
      'with which the same request goes on. Repeat the request if its answer is lost: what is queued already is not queued twice.',
    caller: 'secret',
    roles: developers,
    audited: true,
    params: EndpointParams,
    body: closed({
      since: Timestamp,
      pending: Type.Optional(
        Type.Boolean({
          'x-status': 'live',
          default: false,
          description:
            'Whether deliveries that have failed, and wait for their next attempt, are also sent at once. Default: false.',
        }),
      ),
      cursor: Type.Optional(
        Type.String({
          ...pageQuery.cursor,
          'x-status': 'live',
          description: 'next_cursor of the previous answer, unchanged, with the same `since` and `pending`.',
        }),
      ),
    }),
    answers: {
      200: {
        description: 'How many were queued.',
        data: Type.Object({
          queued: Type.Integer({ minimum: 0, description: 'How many this call has queued.' }),
          next_cursor: Type.Optional(
            Type.String({
              'x-status': 'live',
              description: 'Present if there may be more. Send the same request with it as `cursor`, until an answer has none.',
            }),
          ),
        }),
      },
    },
    errors: ['not_found', 'state_conflict', 'invalid_cursor'],
    example: { body: { since: '2026-11-20T09:00:00.000Z' }, data: { queued: 17 } },
  }),
}

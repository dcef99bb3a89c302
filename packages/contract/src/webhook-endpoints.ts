import { Type } from './type.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, endpointId, nullable, pageQuery, Timestamp } from './schemas.ts'
import { chosenEvents, configuration, secret, url, webhookExample } from './webhooks.ts'

const EndpointParams = Type.Object({
  id: endpointId('The endpoint. `default` is the one of `PUT /tenant/webhooks`.'),
})
const description = Type.String({ maxLength: 200, description: 'For people. Sent to nobody.' })

const WebhookEndpoint = Type.Object({
  id: endpointId('`default`, or whe_….'),
  ...configuration,
  description: nullable(Type.String()),
})
const NewWebhookEndpoint = Type.Object({ ...WebhookEndpoint.properties, secret })

const endpointExample = { id: 'whe_4fRzQ0Ck2mXyT7bNdW5sPa', ...webhookExample, description: 'The warehouse' }

export const webhookEndpointOperations = {
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
      'Queues failed deliveries to the endpoint again whose event is not older than `since`, with ten attempts like ' +
      'new ones; with `pending`, also those that wait for their next attempt or for the end of a pause of the endpoint. ' +
      '**A call ends after some seconds. If its answer has a `next_cursor`, the deliveries that it did not reach are still failed:** ' +
      'send the same request with it as `cursor`, until an answer has none. 409 `state_conflict` while the endpoint is disabled. ' +
      'Repeat the request if its answer is lost: what is queued already is not queued twice.',
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
        description: 'How many were queued. All of them, if there is no `next_cursor`.',
        data: Type.Object({
          queued: Type.Integer({ minimum: 0, description: 'How many this call has queued.' }),
          next_cursor: Type.Optional(
            Type.String({
              'x-status': 'live',
              description:
                'Present if there may be more, which are not queued yet. Send the same request with it as `cursor`, until an answer has none.',
            }),
          ),
        }),
      },
    },
    errors: ['not_found', 'state_conflict', 'invalid_cursor'],
    example: { body: { since: '2026-11-20T09:00:00.000Z' }, data: { queued: 17 } },
  }),
}

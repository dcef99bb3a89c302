import Type from 'typebox'
import { operation } from './operation.ts'
import { closed, id, oneOf, opaqueObject, pageQuery, Timestamp } from './schemas.ts'

/** Everything that is told: by webhook, and to whoever pulls. */
export const eventTypes = [
  'item.created',
  'item.updated',
  'item.deleted',
  'collection.state_changed',
  'collection.deleted',
  'artifact.ready',
  'artifact.failed',
  'artifact.published',
  'session.started',
  'session.stopped',
  'session.failed',
  'wallet.redeemed',
  'key.created',
  'key.revoked',
  'key.expiring',
  'webhook.disabled',
  'tenant.status_changed',
] as const

export type EventType = (typeof eventTypes)[number]

export const eventType = oneOf([...eventTypes])

export const Event = Type.Object({
  id: id('event'),
  type: eventType,
  created_at: Timestamp,
  tenant_id: id('tenant'),
  sequence: Type.Integer({ minimum: 0, description: 'Counts up within the tenant, without gaps, from 1.' }),
  data: opaqueObject('What it is about: ids and the new state, never content or secrets.'),
})

export const eventExample = {
  id: 'evt_4fRzK0vXcB1mQwErTy7uPa',
  type: 'collection.state_changed',
  created_at: '2026-11-20T09:30:00.000Z',
  tenant_id: 'ten_4fRzK0vXcB1mQwErTy7uPa',
  sequence: 42,
  data: { collection_id: 'col_4fRzK0vXcB1mQwErTy7uPa', state: 'ready', previous: 'open' },
}

export const eventOperations = {
  listEvents: operation({
    id: 'listEvents',
    method: 'GET',
    path: '/events',
    status: 'proposed',
    becomes: 'live',
    tag: 'Webhooks',
    summary: 'Pull events',
    description:
      'The same events that the webhook gets, in the order of `sequence`. Go on with `after` set to the last sequence that you handled; an ' +
      'empty list means that there is nothing new.',
    caller: 'secret',
    query: closed({
      after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          default: 0,
          description: 'Events with a greater sequence.',
        }),
      ),
      limit: pageQuery.limit,
    }),
    answers: { 200: { description: 'Events, oldest first.', data: Type.Array(Event) } },
    example: { data: [eventExample] },
  }),
}

import Type from 'typebox'
import { eventSpecs, eventTypes } from './event-types.ts'
import { operation } from './operation.ts'
import { everyMember } from './roles.ts'
import { closed, id, oneOf, opaqueObject, pageQuery, Timestamp } from './schemas.ts'

export const eventType = oneOf(eventTypes)

export const Event = Type.Object({
  id: id('event'),
  type: eventType,
  created_at: Timestamp,
  tenant_id: id('tenant'),
  sequence: Type.Integer({ minimum: 0, description: 'Number of the event within the tenant, from 1, without gaps.' }),
  data: opaqueObject('Ids and the new state, never content or secrets.'),
})

export const eventExample = {
  id: 'evt_4fRzK0vXcB1mQwErTy7uPa',
  type: 'collection.state_changed' as const,
  created_at: '2026-11-20T09:30:00.000Z',
  tenant_id: 'ten_4fRzK0vXcB1mQwErTy7uPa',
  sequence: 42,
  data: eventSpecs['collection.state_changed'].example,
}

export const eventOperations = {
  listEvents: operation({
    id: 'listEvents',
    kind: 'read',
    method: 'GET',
    path: '/events',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Pull events',
    description:
      'Every event in the order of `sequence`, the same that a webhook gets. Continue with `after` set to the last ' +
      'sequence that you handled; an empty list means that there is nothing new. Once a call has returned, its ' +
      'events are in the list. Events are kept for 30 days; a reader that is further behind continues with the ' +
      'oldest one left.',
    caller: 'secret',
    roles: everyMember,
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

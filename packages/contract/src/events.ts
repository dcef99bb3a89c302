import Type from 'typebox'
import { eventSpecs, eventTypes } from './event-types.ts'
import { operation } from './operation.ts'
import { everyMember } from './roles.ts'
import { closed, id, nullable, oneOf, opaqueObject, pageQuery, Timestamp } from './schemas.ts'

export const eventType = oneOf(eventTypes)

const hash = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description: `SHA-256. ${description}` })

export const Event = Type.Object({
  id: id('event'),
  type: eventType,
  created_at: Timestamp,
  tenant_id: id('tenant'),
  sequence: Type.Integer({ minimum: 0, description: 'Number of the event within the tenant, from 1, without gaps.' }),
  data: opaqueObject('Ids and the new state, never content or secrets.'),
  hash: nullable(
    hash('Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a release without it.'),
  ),
  prev_hash: nullable(hash('`hash` of the event before. null: the chain begins with this event.')),
})

const EventHash = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  type: eventType,
  prev_hash: nullable(hash('`hash` of the event before. null: the chain begins with this event.')),
  content_hash: hash('Of the event without `hash` and `prev_hash`.'),
  hash: nullable(hash('Of `prev_hash` and `content_hash`. null: numbered by a release without it.')),
})

export const eventExample = {
  id: 'evt_4fRzK0vXcB1mQwErTy7uPa',
  type: 'collection.state_changed' as const,
  created_at: '2026-11-20T09:30:00.000Z',
  tenant_id: 'ten_4fRzK0vXcB1mQwErTy7uPa',
  sequence: 42,
  data: eventSpecs['collection.state_changed'].example,
  hash: 'ce67be1ce3910531cf8d435db85c7d3ac3ecc6f8485620321543e60a2db09202',
  prev_hash: '2260aaf563a5bef1fdbb4b6a753f16791e1b3380a2ffb95cdc9bc201397a524a',
}

const afterQuery = closed({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'Events with a greater sequence.',
    }),
  ),
  limit: pageQuery.limit,
})

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
    query: afterQuery,
    answers: { 200: { description: 'Events, oldest first.', data: Type.Array(Event) } },
    example: { data: [eventExample] },
  }),
  listEventHashes: operation({
    id: 'listEventHashes',
    kind: 'read',
    method: 'GET',
    path: '/events/hashes',
    status: 'live',
    tag: 'Webhooks',
    summary: 'List the hashes of events',
    description:
      'The chain of the events without their content, in the order of `sequence`: for readers that receive only some ' +
      'types of events and want to know that none of these is missing. Pages as in `GET /events`.',
    caller: 'secret',
    roles: everyMember,
    query: afterQuery,
    answers: { 200: { description: 'Hashes, oldest first.', data: Type.Array(EventHash) } },
    example: {
      data: [
        {
          sequence: eventExample.sequence,
          type: eventExample.type,
          prev_hash: eventExample.prev_hash,
          content_hash: '5587776bb334efd96c1c47406ded647b21f3fedcde4dbfa2fc3f63162ab2767d',
          hash: eventExample.hash,
        },
      ],
    },
  }),
}

import { Type } from './type.ts'
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

const hex = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description })

const HeadsRoot = Type.Object(
  {
    day: Type.String({ description: 'The heads at the beginning of this day (UTC), or soon after.' }),
    chains: Type.Integer({ minimum: 0, description: 'How many tenants have a chain.' }),
    root: hex('The hash of the root.'),
    log_proof: Type.String({ description: 'The address of the inclusion proof in the transparency log.' }),
  },
  { description: 'null: there is no root of this day.' },
)

const HeadProof = Type.Object(
  {
    head: Type.String({
      description: 'The name of the leaf: the id of the tenant, `sequence` and `hash`, with slashes between.',
    }),
    sequence: Type.Integer({ minimum: 1, description: 'Of the last event.' }),
    hash: hash('`hash` of the last event.'),
    salt: hex('What hides the head from those whose proofs show this leaf.'),
    path: Type.Array(
      Type.Object({
        side: oneOf(['left', 'right'], { description: 'On which side of the path this node is.' }),
        chains: Type.Integer({ minimum: 1, description: 'How many chains are below this node.' }),
        hash: hex('The hash of this node.'),
      }),
      { description: 'The nodes beside the path, from the leaf up to the root.' },
    ),
  },
  { description: 'null: the tenant had no chain on this day, or the day is more than a week ago.' },
)

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
  proveEventHead: operation({
    id: 'proveEventHead',
    kind: 'read',
    method: 'GET',
    path: '/events/proof',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Prove the head of the chain of events',
    description:
      'Once a day, the last events of all tenants become the leaves of a Merkle tree, whose root is in the transparency ' +
      'log. So a chain that was rewritten since is noticed. The hash of a leaf is SHA-256 of a zero byte, the salt, the ' +
      'number 1 in 64 bits (most significant byte first) and `head`. The hash of a node is SHA-256 of the byte 1 and, for ' +
      'its left and then its right child, the number of chains in 64 bits and the hash. The guide "The chain of events" ' +
      'has a program that verifies it.',
    caller: 'secret',
    roles: everyMember,
    query: closed({
      day: Type.Optional(Type.String({ format: 'date', description: 'UTC. Default: the last day with a root.' })),
    }),
    answers: {
      200: {
        description: 'The root and the proof.',
        data: Type.Object({ heads: nullable(HeadsRoot), proof: nullable(HeadProof) }),
      },
    },
    example: {
      data: {
        heads: {
          day: '2026-11-20',
          chains: 2,
          root: '3f0a4c6d5a1e8f2b7c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d',
          log_proof: 'https://api.atrium.example/log/proof/5bc91f4e8d40eb79adb4b9a4ee79b2b4a3d24a3b4cf2c3b7c33efd7b5b3fd9a1',
        },
        proof: {
          head: `${eventExample.tenant_id}/${eventExample.sequence}/${eventExample.hash}`,
          sequence: eventExample.sequence,
          hash: eventExample.hash,
          salt: '9b8a7c6d5e4f30213243546576879809a1b2c3d4e5f60718293a4b5c6d7e8f90',
          path: [
            {
              side: 'right' as const,
              chains: 1,
              hash: '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
            },
          ],
        },
      },
    },
  }),
}

import type { Static } from 'typebox'
import { Type } from './type.ts'
import type { EventData, EventType } from './event-types.ts'
import { collectionParams } from './collections.ts'
import { Event, eventExample } from './events.ts'
import { OpenItem, openItemExample } from './item-schemas.ts'
import { operation } from './operation.ts'
import { everyMember } from './roles.ts'
import { closed } from './schemas.ts'

const { id: eventId, type, created_at, data } = Event.properties
/** An event of one collection. It has no sequence: that would disclose how much else happens. */
export const CollectionEvent = Type.Object({ id: eventId, type, created_at, data })

/** `ready`: the first message of a stream without a cursor. `reset`: the cursor has expired; read the state again. */
export type ControlMessage = { event: 'ready' | 'reset'; data: Record<never, never> }

/** `item`: an item that became open or was curated. `removed`: an item that is no longer open. */
export type OpenItemMessage =
  | { event: 'item'; data: Static<typeof OpenItem> }
  | { event: 'removed'; data: Pick<Static<typeof OpenItem>, 'id'> }

/** One message for each event; `event` is its type. */
type MessageOfEvent<E extends { type: string; data: unknown }> = {
  [Name in EventType]: { event: Name; data: Omit<E, 'type' | 'data'> & { type: Name; data: EventData<Name> } }
}[EventType]
export type EventMessage = MessageOfEvent<Static<typeof Event>>
export type CollectionEventMessage = MessageOfEvent<Static<typeof CollectionEvent>>

/** The body of a stream whose messages are of this type. */
export interface StreamBody<Message> extends ReadableStream<Uint8Array<ArrayBuffer>> {
  /** Only for the type checker. */
  readonly message?: Message
}

const streamQuery = closed({
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'The cursor from which to continue, for an `EventSource`, which cannot send headers when it connects. Last-Event-ID ' +
        'takes precedence.',
    }),
  ),
})

const streamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'The `id` of the last message that you handled, unchanged. Absent: the stream starts now.',
    }),
  ),
})

const format =
  '\n\n' +
  'The response is `text/event-stream` (HTML, 9.2) and stays open:\n' +
  '- Without Last-Event-ID the stream starts now. Its first message is `ready`, whose `id` is a cursor.\n' +
  '- With Last-Event-ID it continues after that message, without a gap and without a repeat.\n' +
  '- A cursor is opaque, belongs to one stream and is valid while events are stored (30 days). A stream with an expired ' +
  'cursor begins with `reset`: read the state again.\n' +
  '- A comment is sent every 15 seconds and may have a newer `id`.\n\n' +
  'Each API process limits the open streams in total, per tenant and per IP address (429). '

const frame = (name: string, example: unknown) => `id: kY3…\nevent: ${name}\ndata: ${JSON.stringify(example)}\n\n`

const answer = <Message>(messages: string) => ({
  description: messages,
  data: Type.Unsafe<StreamBody<Message | ControlMessage>>({
    type: 'string',
    description: 'Messages with `id`, `event` and `data`, which is JSON on one line.',
  }),
  raw: 'text/event-stream' as const,
})

const { tenant_id: _tenant, sequence: _sequence, hash: _hash, prev_hash: _prev, ...collectionEventExample } = eventExample

export const streamOperations = {
  streamEvents: operation({
    id: 'streamEvents',
    kind: 'stream',
    method: 'GET',
    path: '/events/stream',
    status: 'live',
    tag: 'Webhooks',
    summary: 'Stream events',
    description:
      'All events of the tenant as they happen, in the order of `sequence`. Each message is named after the type of its event, and its data is the ' +
      'event as `GET /events` lists it.' +
      format +
      'The stream ends within 15 seconds once the key is revoked or the tenant suspended.',
    caller: 'secret',
    roles: everyMember,
    query: streamQuery,
    headers: streamHeaders,
    answers: { 200: answer<EventMessage>('`ready`, `reset`, and a message for each event.') },
    errors: ['invalid_cursor'],
    example: { data: frame(eventExample.type, eventExample) },
  }),
  streamCollection: operation({
    id: 'streamCollection',
    kind: 'stream',
    method: 'GET',
    path: '/collections/{id}/stream',
    status: 'live',
    tag: 'Items',
    summary: 'Stream a collection',
    description:
      'The messages depend on the credentials:\n' +
      '- With the publishable key, the open items of the collection (approved, not archived, access `open`): `item` with ' +
      'the item when it becomes open or is curated, `removed` with its id when it is no longer open or was deleted. The ' +
      'item is sent as it is when the message is sent.\n' +
      "- With the owner token, all events of the collection's items, artifacts and state. Each message is named after the " +
      'type of its event, and its data is `{id, type, created_at, data}`.' +
      format +
      'The stream ends within 15 seconds once the key is revoked, the tenant suspended, the owner token replaced or the collection deleted.',
    caller: 'publishable',
    roles: everyMember,
    capability: 'optional',
    params: collectionParams,
    query: streamQuery,
    headers: streamHeaders,
    answers: {
      200: answer<OpenItemMessage | CollectionEventMessage>(
        '`ready`, `reset`, and `item` and `removed`; with the owner token, a message for each event.',
      ),
    },
    errors: ['invalid_cursor'],
    example: { data: frame('item', openItemExample) + frame(eventExample.type, collectionEventExample) },
  }),
  streamWall: operation({
    id: 'streamWall',
    kind: 'stream',
    method: 'GET',
    path: '/collections/{id}/wall/stream',
    status: 'live',
    tag: 'Items',
    summary: 'Stream a wall',
    description:
      'The open items of a collection whose `wall` is true, without a credential: the messages that `GET /collections/{id}/stream` sends with the ' +
      'publishable key. Otherwise 404. The response header `Collection-State` has the state of the collection.' +
      format +
      'The stream ends within 15 seconds once the wall is switched off, the tenant suspended or the collection deleted. ' +
      'It also ends when the state changes: connect again to continue.',
    caller: 'anyone',
    params: collectionParams,
    query: streamQuery,
    headers: streamHeaders,
    answers: { 200: answer<OpenItemMessage>('`ready`, `reset`, `item` and `removed`.') },
    errors: ['invalid_cursor', 'not_found'],
    example: { data: frame('item', openItemExample) },
  }),
}

import type { EventData, EventType } from '@atrium/contract/event-types'
import type { Event } from '@atrium/contract/events'
import type { Static } from 'typebox'

type Envelope = Omit<Static<typeof Event>, 'type' | 'data'>

/**
 * An event: `{id, type, created_at, tenant_id, sequence, data}`. `type` determines the shape of `data`, which contains
 * ids and the new state, never content. Types may be added.
 */
export type AtriumEvent = { [Type in EventType]: Envelope & { type: Type; data: EventData<Type> } }[EventType]

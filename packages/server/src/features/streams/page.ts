import { limits } from '@atrium/contract/limits'
import { Semaphore } from '@atrium/traffic/semaphore'
import type { Db } from '#db/database.ts'
import { eventView, type Event } from '#features/events/event.ts'
import { listEvents } from '#features/events/store.ts'
import { isInLog, listCollectionEvents, listOpenItemChanges } from '#features/events/stream-store.ts'
import { isOpen, openItemView } from '#features/items/item.ts'
import { listChosenItems } from '#features/items/store.ts'
import type { Channel, ChannelTarget } from './channel.ts'

/** A part of a stream. */
export interface Page {
  /** Frames; empty: nothing in this part concerns the stream. */
  bytes: Buffer
  /** The part ends after this sequence. */
  upTo: number
  /** The log no longer has all events after the cursor. */
  expired?: true
}

export type PageLoader = (
  channel: Channel,
  after: number,
  options: {
    /** The sequence up to which everything is committed. */
    upTo: number
    /** Whether events after the cursor may have been deleted. */
    mayBeExpired: boolean
  },
) => Promise<Page>

interface Message {
  sequence: number
  event: string
  data: object
}

const maxMessages = 100
/** Items may be large, so at most this many of the largest are read at once. */
const maxItems = 32
/** A page ends with the message that reaches this size. */
const pageBytes = limits.itemContentBytes

/** Makes the page loader of a process. At most four pages are read at once, however many streams reconnect. */
export function pageLoader(db: Db): PageLoader {
  const permits = new Semaphore(4)
  return (channel, after, { upTo, mayBeExpired }) =>
    permits.run(async () => {
      if (mayBeExpired && !(await isInLog(db, channel.target.tenantId, after)))
        return { bytes: Buffer.alloc(0), upTo, expired: true }
      const { messages, last, isCut } = await listMessages(db, channel.target, after)
      // The query may have found more than was known before it.
      return pageOf(channel, messages, isCut ? last : Math.max(last, upTo))
    })
}

/** `last`: the sequence of the last event that was read. `isCut`: there may be more. */
type Messages = { messages: Message[]; last: number; isCut: boolean }

async function listMessages(db: Db, target: ChannelTarget, after: number): Promise<Messages> {
  const { kind, tenantId, collectionId = '' } = target
  if (kind === 'tenant') return messagesOf(await listEvents(db, tenantId, after, maxMessages), after, eventView)
  if (kind === 'owner')
    return messagesOf(await listCollectionEvents(db, tenantId, collectionId, after, maxMessages), after, collectionEventView)
  if (target.isBox) return { messages: [], last: after, isCut: false }
  return listOpenItemMessages(db, tenantId, collectionId, after)
}

function messagesOf(events: Event[], after: number, view: (event: Event) => object): Messages {
  const messages = events.map((event) => ({ sequence: event.sequence, event: event.type, data: view(event) }))
  return { messages, last: events.at(-1)?.sequence ?? after, isCut: events.length === maxMessages }
}

/** Without the tenant's sequence, which would disclose to an owner how many other events there are. */
function collectionEventView({ id, type, createdAt, data }: Event) {
  return { id, type, created_at: createdAt, data }
}

/**
 * Items are sent in their current state. One that was hidden again meanwhile is skipped: the event of that change
 * follows. So an item that is no longer open is never sent, however late the page is read.
 */
async function listOpenItemMessages(db: Db, tenantId: string, collectionId: string, after: number): Promise<Messages> {
  const changes = await listOpenItemChanges(db, tenantId, collectionId, after, maxItems)
  const ids = [...new Set(changes.filter((change) => change.isOpen).map(({ itemId }) => itemId))]
  const found = ids.length > 0 ? await listChosenItems(db, tenantId, collectionId, { ids, hero: false }) : []
  const open = new Map(found.filter(isOpen).map((item) => [item.id, item]))
  const messages = changes.flatMap(({ sequence, itemId, isOpen: wasOpened }): Message[] => {
    if (!wasOpened) return [{ sequence, event: 'removed', data: { id: itemId } }]
    const item = open.get(itemId)
    return item ? [{ sequence, event: 'item', data: openItemView(item) }] : []
  })
  return { messages, last: changes.at(-1)?.sequence ?? after, isCut: changes.length === maxItems }
}

function pageOf({ cursor }: Channel, messages: Message[], upTo: number): Page {
  const frames: string[] = []
  let bytes = 0
  for (const { sequence, event, data } of messages) {
    const frame = frameOf(cursor.seal(sequence), event, data)
    frames.push(frame)
    bytes += frame.length
    if (bytes >= pageBytes) return { bytes: Buffer.from(frames.join('')), upTo: sequence }
  }
  return { bytes: Buffer.from(frames.join('')), upTo }
}

/** A message of the format that HTML, 9.2.6 defines. JSON text has no line break. */
export function frameOf(id: string, event: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

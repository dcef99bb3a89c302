import type { AtriumEvent } from './atrium-event.ts'
import type { AtriumClient } from './call.ts'

export interface PullOptions {
  /** `sequence` of the last event that you handled. Default 0: all stored events. */
  after?: number | undefined
  signal?: AbortSignal | undefined
}

const pageEvents = 200

/**
 * Iterates over all events after a `sequence`, in order, until there is nothing new. Throws the errors of the call.
 *
 * @example
 * for await (const event of pullEvents(client.listEvents, { after: lastSequence })) {
 *   await handle(event)
 *   lastSequence = event.sequence
 * }
 */
export async function* pullEvents(
  listEvents: AtriumClient['listEvents'],
  { after = 0, signal }: PullOptions = {},
): AsyncGenerator<AtriumEvent, void, undefined> {
  for (let last = after; ;) {
    const { data } = await listEvents({ query: { after: last, limit: pageEvents }, signal })
    // The contract's schema of the list does not relate `type` to `data`.
    for (const event of data as AtriumEvent[]) {
      signal?.throwIfAborted()
      yield event
    }
    const newest = data.at(-1)
    if (!newest) return
    last = newest.sequence
  }
}

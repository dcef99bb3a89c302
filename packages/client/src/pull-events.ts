import type { AtriumEvent } from './atrium-event.ts'
import type { AtriumClient } from './call.ts'

export interface PullOptions {
  /** `sequence` of the last event that was handled. Default 0: all that there are. */
  after?: number | undefined
  signal?: AbortSignal | undefined
}

const pageEvents = 200

/**
 * All events after a `sequence`, in order, page after page, until there is nothing new:
 * `for await (const event of pullEvents(client.listEvents, { after })) …`
 * Throws what the call throws.
 */
export async function* pullEvents(
  listEvents: AtriumClient['listEvents'],
  { after = 0, signal }: PullOptions = {},
): AsyncGenerator<AtriumEvent, void, undefined> {
  for (let last = after; ;) {
    const { data } = await listEvents({ query: { after: last, limit: pageEvents }, signal })
    // Which data goes with which type, the contract's schema of the list does not say.
    yield* data as AtriumEvent[]
    const newest = data.at(-1)
    if (!newest) return
    last = newest.sequence
  }
}

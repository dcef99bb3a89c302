import { isJsonObject } from '@atrium/contract/strict-json'

/** An entry of a paged answer: of `data` if it is a list, else of `data.items`. */
type EntryOf<Answer> = Answer extends { data: readonly (infer Entry)[] }
  ? Entry
  : Answer extends { data: { items: readonly (infer Entry)[] } }
    ? Entry
    : never

interface Page {
  data?: unknown
  nextCursor?: string | undefined
}

/**
 * Iterates over all entries of a paged list. Each page is fetched when it is needed. If entries are added or removed
 * meanwhile, each other entry comes exactly once. `query.limit` is the page size and `query.cursor` the start; a call
 * with a body has both in the body. Throws the errors of the call, and the signal's reason as soon as `signal` aborts.
 *
 * @example
 * for await (const item of paginate(client.listItems, { id, collectionToken, query: { limit: 100 } })) console.log(item.type)
 */
export async function* paginate<Input extends { query?: object | undefined } | { body: object }, Answer>(
  call: (input: Input) => Promise<Answer>,
  input: Input,
): AsyncGenerator<EntryOf<Answer>, void, undefined> {
  const { signal } = input as { signal?: AbortSignal | undefined }
  let cursor: string | undefined
  do {
    const page = (await call(cursor ? startingAt(input, cursor) : input)) as Page
    for (const entry of entriesOf(page.data) as EntryOf<Answer>[]) {
      signal?.throwIfAborted()
      yield entry
    }
    cursor = page.nextCursor
  } while (cursor)
}

function startingAt<Input extends { query?: object | undefined } | { body: object }>(input: Input, cursor: string): Input {
  if ('body' in input) return { ...input, body: { ...input.body, cursor } }
  return { ...input, query: { ...input.query, cursor } }
}

function entriesOf(data: unknown): unknown[] {
  const list = Array.isArray(data) ? data : isJsonObject(data) ? data['items'] : undefined
  if (!Array.isArray(list)) throw new TypeError('paginate is for paged lists')
  return list
}

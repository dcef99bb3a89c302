import type { AtriumClient } from './call.ts'
import { coalesced } from './coalesced.ts'
import { followStream } from './follow-stream.ts'
import { watchedStore, type WatchedStore } from './watched-store.ts'

type ListQuery = NonNullable<Parameters<AtriumClient['listItems']>[0]['query']>
type Curation = Parameters<AtriumClient['curateItem']>[0]['body']
export type OwnedItem = Awaited<ReturnType<AtriumClient['listItems']>>['data']['items'][number]

export interface OwnerItemsOptions {
  /** The collection. */
  id: string
  /** Its owner token. */
  collectionToken: string
  /** Default newest. */
  order?: 'newest' | 'oldest' | undefined
  /**
   * Only items that match all filters: `type`, `author`, `approved`, `archived`, `hero`, `access`, `from`, `to`, `q`
   * (text).
   */
  filters?: Omit<ListQuery, 'order' | 'limit' | 'cursor'> | undefined
  /** The size of a page, up to 200. Default 50. */
  limit?: number | undefined
  /** Whether to follow the stream of the collection. Default true. */
  live?: boolean | undefined
}

export interface OwnerItemsState {
  status: 'loading' | 'ready' | 'failed'
  error: Error | undefined
  items: readonly OwnedItem[]
  nextCursor: string | undefined
  /** How many pages `items` contains. */
  pages: number
}

export interface OwnerItemsStore extends WatchedStore<OwnerItemsState> {
  loadMore: () => Promise<void>
  curate: (ids: string | readonly string[], change: Curation) => Promise<void>
  remove: (ids: string | readonly string[]) => Promise<void>
}

const flags = ['approved', 'archived', 'hero', 'access'] as const

/**
 * The owner's list of items. An event has no content, and only the server can decide whether an item matches
 * `filters`, so the loaded pages are read again after a change.
 */
export function ownerItemsStore(client: AtriumClient, options: OwnerItemsOptions): OwnerItemsStore {
  const { id, collectionToken, order = 'newest', filters = {}, limit, live = true } = options
  let change: ((change: (state: OwnerItemsState) => OwnerItemsState) => void) | undefined
  let loading: Promise<void> | undefined

  /** The next page that has items. With filters, a page may be empty although another one follows. */
  const readPage = async (cursor: string | undefined, signal?: AbortSignal) => {
    for (let at = cursor; ;) {
      const query = { ...filters, order, ...(limit === undefined ? {} : { limit }), ...(at ? { cursor: at } : {}) }
      const { data, nextCursor } = await client.listItems({ id, collectionToken, query, signal })
      if (data.items.length > 0 || nextCursor === undefined) return { items: data.items, nextCursor }
      at = nextCursor
    }
  }
  const readPages = async (count: number, signal: AbortSignal) => {
    const read = [await readPage(undefined, signal)]
    const nextCursor = () => read.at(-1)?.nextCursor
    while (read.length < count && nextCursor() !== undefined) read.push(await readPage(nextCursor(), signal))
    return { items: read.flatMap(({ items }) => items), nextCursor: nextCursor() }
  }

  const initial: OwnerItemsState = { status: 'loading', error: undefined, items: [], nextCursor: undefined, pages: 1 }
  const store = watchedStore<OwnerItemsState>(
    initial,
    async (set, signal) => {
      change = set
      const load = async () => {
        for (;;) {
          const { pages } = store.getState()
          const read = await readPages(pages, signal)
          // loadMore was faster: this result lacks its page.
          if (store.getState().pages !== pages) continue
          set((state) => ({ ...state, ...read, status: 'ready', error: undefined }))
          return
        }
      }
      await load()
      if (!live) return
      const refresh = coalesced(load, signal, (error) => set((state) => failed(state, error)))
      for await (const { event } of followStream(client.streamCollection, { id, collectionToken, signal })) {
        if (event === 'ready' || event === 'reset' || event.startsWith('item.')) refresh()
      }
    },
    failed,
  )

  const loadMore = async () => {
    const { nextCursor } = store.getState()
    if (nextCursor === undefined) return
    const page = await readPage(nextCursor)
    change?.((state) => {
      // The list was read again meanwhile, and has another end.
      if (state.nextCursor !== nextCursor) return state
      const known = new Set(state.items.map((item) => item.id))
      const added = page.items.filter((item) => !known.has(item.id))
      return { ...state, items: [...state.items, ...added], nextCursor: page.nextCursor, pages: state.pages + 1 }
    })
  }
  return {
    ...store,
    // Two concurrent calls, such as those of an effect that runs twice, read one page.
    loadMore: () => (loading ??= loadMore().finally(() => (loading = undefined))),
    curate: async (ids, patch) => {
      if (typeof ids === 'string') await client.curateItem({ id, itemId: ids, collectionToken, body: patch })
      else await client.curateItems({ id, collectionToken, body: { ids: [...ids], patch } })
      change?.((state) => ({ ...state, items: curated(state.items, ids, patch).filter((item) => meetsFlags(item, filters)) }))
    },
    remove: async (ids) => {
      if (typeof ids === 'string') await client.deleteItem({ id, itemId: ids, collectionToken })
      else await client.curateItems({ id, collectionToken, body: { ids: [...ids], delete: true } })
      change?.((state) => ({ ...state, items: state.items.filter((item) => !ids.includes(item.id)) }))
    },
  }
}

/** The items after a curation. A new hero replaces the previous one. */
function curated(items: readonly OwnedItem[], ids: string | readonly string[], patch: Curation): OwnedItem[] {
  const set = Object.fromEntries(flags.flatMap((name) => (patch[name] === undefined ? [] : [[name, patch[name]]])))
  return items.map((item) => {
    if (ids.includes(item.id)) return { ...item, ...set }
    return patch.hero === true && item.hero ? { ...item, hero: false } : item
  })
}

function meetsFlags(item: OwnedItem, filters: Omit<ListQuery, 'order' | 'limit' | 'cursor'>): boolean {
  const { approved, archived, hero, access } = filters
  return [
    [approved, item.approved],
    [archived, item.archived],
    [hero, item.hero],
    [access, item.access],
  ].every(([wanted, has]) => wanted === undefined || wanted === has)
}

function failed(state: OwnerItemsState, error: unknown): OwnerItemsState {
  return { ...state, status: 'failed', error: error instanceof Error ? error : new Error(String(error)) }
}

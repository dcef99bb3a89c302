/**
 * React hooks for apps and their visitors. They need React 18 or 19, render as `loading` on a server, and abort their
 * requests when the component unmounts.
 */
import { useCallback, useMemo, useSyncExternalStore } from 'react'
import type { AtriumClient } from './call.ts'
import { coalesced } from './coalesced.ts'
import { NotFoundError } from './errors.ts'
import { followStream } from './follow-stream.ts'
import { ownerItemsStore, type OwnedItem, type OwnerItemsOptions, type OwnerItemsStore } from './owner-items-store.ts'
import type { Room, SayOptions } from './open-room.ts'
import type { Entry, SaidEntry } from './room-call.ts'
import { watchedStore, type WatchedStore } from './watched-store.ts'

export type OpenItem = Awaited<ReturnType<AtriumClient['listOpenItems']>>['data'][number]
export type Collection = Awaited<ReturnType<AtriumClient['getCollection']>>['data']

/** loading: nothing has arrived yet. failed: `error` has the reason; data that arrived before is still present. */
export type HookStatus = 'loading' | 'ready' | 'failed'

interface HookState {
  status: HookStatus
  error: Error | undefined
}

export interface UseItemsOptions {
  /** The collection. */
  id: string
  order?: 'newest' | 'oldest' | undefined
  /** Only items of this type. */
  type?: string | undefined
  /** The size of a page, up to 200. Default 50. */
  limit?: number | undefined
  /** Whether to follow the stream of the collection. Default true. */
  live?: boolean | undefined
}

interface ItemsState extends HookState {
  items: readonly OpenItem[]
  nextCursor: string | undefined
}

export interface UseItemsResult extends HookState {
  /** The open items, in order. */
  items: readonly OpenItem[]
  hasMore: boolean
  /** Reads the next page. Throws the errors of the call. */
  loadMore: () => Promise<void>
}

/**
 * The open items of a collection, which everyone with the publishable key may read. They update live unless `live` is
 * false. Create the client outside the component.
 *
 * @example
 * const { items, status, hasMore, loadMore } = useItems(client, { id, order: 'newest' })
 */
export function useItems(client: AtriumClient, options: UseItemsOptions): UseItemsResult {
  const { id, order = 'newest', type, limit, live = true } = options
  const store = useMemo(() => itemsStore(client, { id, order, type, limit, live }), [client, id, order, type, limit, live])
  const { items, status, error, nextCursor } = useStore(store)
  return { items, status, error, hasMore: nextCursor !== undefined, loadMore: store.loadMore }
}

function itemsStore(client: AtriumClient, { id, order = 'newest', type, limit, live }: UseItemsOptions) {
  let change: ((change: (state: ItemsState) => ItemsState) => void) | undefined
  let loading: Promise<void> | undefined
  const readings = new Set<Changes>()
  const noteChange = (itemId: string, item: OpenItem | undefined) => readings.forEach((changes) => changes.set(itemId, item))
  /** `show` gets the page, and what the stream named while it was read. */
  const readPage = async (
    cursor: string | undefined,
    show: (page: OpenPage, changes: Changes) => void,
    signal?: AbortSignal,
  ): Promise<void> => {
    const changes: Changes = new Map()
    readings.add(changes)
    try {
      const query = {
        order,
        ...(type === undefined ? {} : { type }),
        ...(limit === undefined ? {} : { limit }),
        ...(cursor ? { cursor } : {}),
      }
      const { data, nextCursor } = await client.listOpenItems({ id, query, signal })
      show({ items: data, nextCursor }, changes)
    } finally {
      readings.delete(changes)
    }
  }
  const initial: ItemsState = { status: 'loading', error: undefined, items: [], nextCursor: undefined }
  const store = watchedStore<ItemsState>(
    initial,
    async (set, signal) => {
      change = set
      const show = (page: OpenPage, changes: Changes) => set((state) => withChanges(withFirstPage(state, page), changes, order))
      const load = () => readPage(undefined, show, signal)
      await load()
      if (!live) return
      const refresh = coalesced(load, signal, (error) => set((state) => failed(state, error)))
      for await (const { event, data } of followStream(client.streamCollection, { id, signal })) {
        // ready: items written between the list and the stream are in the next list. reset: the cursor has expired.
        if (event === 'reset') set((state) => ({ ...state, items: [], nextCursor: undefined }))
        if (event === 'ready' || event === 'reset') refresh()
        else if (event === 'removed') {
          noteChange(data.id, undefined)
          set((state) => withoutItem(state, data.id))
        } else if (event === 'item' && (type === undefined || data.type === type)) {
          noteChange(data.id, data)
          set((state) => withItem(state, data, order))
        }
      }
    },
    failed,
  )
  const loadMore = async () => {
    const { nextCursor } = store.getState()
    if (nextCursor === undefined) return
    await readPage(nextCursor, (page, changes) =>
      change?.((state) => {
        // The list was read again in the meantime and has another end.
        if (state.nextCursor !== nextCursor) return state
        const known = new Set(state.items.map((item) => item.id))
        const items = [...state.items, ...page.items.filter((item) => !known.has(item.id))]
        return withChanges({ ...state, items, nextCursor: page.nextCursor }, changes, order)
      }),
    )
  }
  // Two concurrent calls, such as those of an effect that runs twice, read one page.
  return { ...store, loadMore: () => (loading ??= loadMore().finally(() => (loading = undefined))) }
}

type OpenPage = Pick<ItemsState, 'items' | 'nextCursor'>

/** The latest of each item that the stream named while a page was read, which may be older. undefined: removed. */
type Changes = Map<string, OpenItem | undefined>

function withChanges(state: ItemsState, changes: Changes, order: 'newest' | 'oldest'): ItemsState {
  return [...changes].reduce((now, [id, item]) => (item ? withItem(now, item, order) : withoutItem(now, id)), state)
}

/** Replaces the first page of the list. Pages after it stay. */
function withFirstPage(state: ItemsState, page: OpenPage): ItemsState {
  const last = page.items.at(-1)
  const at = page.nextCursor === undefined ? -1 : state.items.findIndex((item) => item.id === last?.id)
  const further = at < 0 ? [] : state.items.slice(at + 1)
  const nextCursor = further.length > 0 ? state.nextCursor : page.nextCursor
  return { status: 'ready', error: undefined, items: [...page.items, ...further], nextCursor }
}

/** Adds an item to the list, or replaces it. */
function withItem(state: ItemsState, item: OpenItem, order: 'newest' | 'oldest'): ItemsState {
  const { items, nextCursor } = state
  if (items.some(({ id }) => id === item.id)) return { ...state, items: items.map((one) => (one.id === item.id ? item : one)) }
  const follows = (one: OpenItem) => (order === 'newest' ? one.created_at <= item.created_at : one.created_at > item.created_at)
  const at = items.findIndex(follows)
  if (at >= 0) return { ...state, items: [...items.slice(0, at), item, ...items.slice(at)] }
  // The item is after the end of the pages read so far. It arrives with its page.
  return nextCursor === undefined ? { ...state, items: [...items, item] } : state
}

function withoutItem(state: ItemsState, id: string): ItemsState {
  return { ...state, items: state.items.filter((item) => item.id !== id) }
}

export type { OwnedItem, OwnerItemsOptions }

export interface UseOwnerItemsResult extends HookState, Pick<OwnerItemsStore, 'loadMore' | 'curate' | 'remove'> {
  /** All items that match the filters, in order, with their flags. */
  items: readonly OwnedItem[]
  hasMore: boolean
}

/**
 * The owner's list of the items of a collection, including those that visitors do not see. `curate` and `remove` take
 * one id or up to 500, and throw the errors of the call.
 *
 * @example
 * const { items, curate } = useOwnerItems(client, { id, collectionToken, filters: { approved: false } })
 * await curate(items.map((item) => item.id), { approved: true })
 */
export function useOwnerItems(client: AtriumClient, options: OwnerItemsOptions): UseOwnerItemsResult {
  // Equal options share a store, although a component creates new objects on each render.
  const key = JSON.stringify(options)
  const store = useMemo(() => ownerItemsStore(client, JSON.parse(key) as OwnerItemsOptions), [client, key])
  const { items, status, error, nextCursor } = useStore(store)
  const { loadMore, curate, remove } = store
  return { items, status, error, hasMore: nextCursor !== undefined, loadMore, curate, remove }
}

export interface UseCollectionOptions {
  id: string
  /** The owner token. With it the collection has `app_state` and can update live. */
  collectionToken?: string | undefined
  /** Whether to follow its changes, which needs the owner token. Default: true with an owner token. */
  live?: boolean | undefined
}

interface CollectionState extends HookState {
  collection: Collection | undefined
}

/**
 * A collection. With the owner token it has `app_state` and updates live.
 *
 * @example
 * const { collection, status } = useCollection(client, { id })
 */
export function useCollection(client: AtriumClient, options: UseCollectionOptions): CollectionState {
  const { id, collectionToken, live = collectionToken !== undefined } = options
  const store = useMemo(() => collectionStore(client, { id, collectionToken, live }), [client, id, collectionToken, live])
  return useStore(store)
}

function collectionStore(
  client: AtriumClient,
  { id, collectionToken, live }: UseCollectionOptions,
): WatchedStore<CollectionState> {
  return watchedStore<CollectionState>(
    { status: 'loading', error: undefined, collection: undefined },
    async (set, signal) => {
      const load = async () => {
        const { data } = await client.getCollection({ id, collectionToken, signal })
        set(() => ({ status: 'ready', error: undefined, collection: data }))
      }
      await load()
      if (!live || collectionToken === undefined) return
      const refresh = coalesced(load, signal, (error) => set((state) => failed(state, error)))
      for await (const { event } of followStream(client.streamCollection, { id, collectionToken, signal })) {
        // Items change item_count.
        if (!event.startsWith('artifact.')) refresh()
      }
    },
    failed,
  )
}

interface RoomState extends HookState {
  entries: readonly Entry[]
}

export interface UseRoomResult extends RoomState {
  /** Writes a message; see Room. It appears in `entries` once the service has stored it. */
  say: (text: string, options?: SayOptions) => Promise<SaidEntry>
}

/**
 * The entries of a room, live. Create the room with openRoom outside the component. A room without a message is empty
 * and ready.
 *
 * @example
 * const { entries, status, say } = useRoom(room)
 */
export function useRoom(room: Room): UseRoomResult {
  const store = useMemo(() => roomStore(room), [room])
  const say = useCallback((text: string, options?: SayOptions) => room.say(text, options), [room])
  return { ...useStore(store), say }
}

function roomStore(room: Room): WatchedStore<RoomState> {
  return watchedStore<RoomState>(
    { status: 'loading', error: undefined, entries: [] },
    async (set, signal) => {
      await assertReadable(room, signal)
      set((state) => ({ ...state, status: 'ready' }))
      const entries: Entry[] = []
      let gathering = false
      const show = () => {
        gathering = false
        set(() => ({ status: 'ready', error: undefined, entries: [...entries] }))
      }
      for await (const entry of room.follow({ signal, waitForRoom: true })) {
        entries.push(entry)
        // A page of the history has many entries at once, which are rendered together.
        if (gathering) continue
        gathering = true
        setTimeout(show)
      }
    },
    failed,
  )
}

/** A room that does not exist yet is empty. */
async function assertReadable(room: Room, signal: AbortSignal): Promise<void> {
  await room.poll({ limit: 1, signal }).catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error
  })
}

function failed<State extends HookState>(state: State, error: unknown): State {
  return { ...state, status: 'failed', error: error instanceof Error ? error : new Error(String(error)) }
}

/** On a server and in the first render in a browser, the state is the initial one, because nothing was requested. */
function useStore<State>({ subscribe, getState }: WatchedStore<State>): State {
  return useSyncExternalStore(subscribe, getState, getState)
}

import { followStream } from '@atrium/client/follow-stream'
import { useLayoutEffect, useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { useMessages } from '../api/use-live.ts'
import { useQuery } from '../api/use-query.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { FailureNote } from '../components/failure.tsx'
import { SearchField } from './collections.tsx'
import { Time } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { useSearch } from '../router/router.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'

type Event = Awaited<ReturnType<typeof api.listEvents>>['data'][number]

const MAX_SHOWN = 300
const FIRST_PAGE = 100

/** Every event of the tenant as it happens: the same that a webhook gets. */
export function Events() {
  const [search, change] = useSearch()
  const q = search.get('q') ?? ''
  const [events, setEvents] = useState<readonly Event[]>([])
  const [isPaused, setPaused] = useState(false)
  const [held, setHeld] = useState<readonly Event[]>([])
  const first = useQuery('events', loadNewest)
  // Before the next frame, which would say that there are none.
  useLayoutEffect(() => {
    if (first.data) setEvents((shown) => merge(first.data ?? [], shown))
  }, [first.data])
  useMessages(
    'events',
    (signal) => followStream(api.streamEvents, { signal }),
    ({ event, data }) => {
      if (event === 'ready') return
      // After a gap in the stream, the newest events are read again.
      if (event === 'reset') return first.reload()
      const put = isPaused ? setHeld : setEvents
      put((shown) => merge([data as Event], shown))
    },
  )
  const resume = () => {
    setEvents((shown) => merge(held, shown))
    setHeld([])
    setPaused(false)
  }
  const toggle = () => (isPaused ? resume() : setPaused(true))
  useShortcuts('Events', [{ keys: 'p', label: 'Pause or continue', run: toggle }])
  const shown = events.filter(({ type, data, id }) =>
    `${type} ${id} ${JSON.stringify(data)}`.toLowerCase().includes(q.toLowerCase()),
  )
  return (
    <>
      <PageHead title="Events" lead="They appear as they happen. A webhook gets the same.">
        <CurlButton what="follow the events" call={() => ['streamEvents', {}]} />
        <button class="button" type="button" aria-pressed={isPaused} onClick={toggle}>
          {isPaused ? `Continue (${held.length})` : 'Pause'}
        </button>
      </PageHead>
      <div class="filters">
        <SearchField label="Type, id or text" value={q} onChange={(value) => change({ q: value })} />
      </div>
      {first.error !== undefined && <FailureNote error={first.error} onRetry={first.reload} />}
      {first.isLoading && events.length === 0 && <Loading lines={8} />}
      {!first.isLoading && shown.length === 0 && first.error === undefined && (
        <Empty title={events.length === 0 ? 'There are no events yet' : 'No event matches'}>
          <p>Each change of a collection, an item, a session or a key is an event.</p>
        </Empty>
      )}
      <ul class="log" aria-label="Events">
        {shown.map(({ id, type, created_at, sequence, data }) => (
          <li key={id}>
            <details>
              <summary>
                <span class="log-number">{sequence}</span>
                <b>{type}</b>
                <Time at={created_at} />
              </summary>
              <CopyText text={id} label="Copy the id" />
              <pre class="json" tabIndex={0}>
                {JSON.stringify(data, null, 2)}
              </pre>
            </details>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Newest first, each once. */
function merge(added: readonly Event[], shown: readonly Event[]): readonly Event[] {
  const all = new Map([...shown, ...added].map((event) => [event.sequence, event]))
  return [...all.values()].sort((a, b) => b.sequence - a.sequence).slice(0, MAX_SHOWN)
}

/** A sequence above every other. */
const BEYOND = 2 ** 52

/**
 * The newest events. The API lists the oldest first, after a sequence: the last sequence is found by halving, which
 * takes about 20 small requests for a million events, and 1 for a tenant with few.
 */
async function loadNewest(signal: AbortSignal): Promise<Event[]> {
  const after = async (sequence: number, limit: number) =>
    (await api.listEvents({ query: { after: sequence, limit }, signal })).data
  const start = await after(0, FIRST_PAGE)
  if (start.length < FIRST_PAGE) return start
  let [low, high] = [start.at(-1)?.sequence ?? 0, BEYOND]
  for (let step = FIRST_PAGE; high === BEYOND; step *= 8) {
    const [next] = await after(low + step, 1)
    if (next) low = next.sequence
    else high = low + step
  }
  while (high - low > FIRST_PAGE / 2) {
    const middle = Math.floor((low + high) / 2)
    const [next] = await after(middle, 1)
    if (next) low = next.sequence
    else high = middle
  }
  return after(Math.max(0, low - FIRST_PAGE / 2), FIRST_PAGE)
}

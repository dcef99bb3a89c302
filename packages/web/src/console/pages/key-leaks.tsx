import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { useQuery } from '../api/use-query.ts'
import { CurlButton } from '../components/curl-button.tsx'
import { Facts } from '../components/facts.tsx'
import { FailureNote } from '../components/failure.tsx'
import { Badge, formatNumber, Time } from '../components/format.tsx'
import { confirm } from '../shell/confirm.tsx'

type Leak = Awaited<ReturnType<typeof api.listKeyLeaks>>['data'][number]

/** Keys that were found in public, with what was done with them, and what the tenant wants done. */
export function KeyLeaks() {
  const leaks = usePages<Leak>('key leaks', (page, signal) => api.listKeyLeaks({ query: { limit: 50, ...page }, signal }))
  return (
    <section class="card">
      <div class="card-head">
        <h2>Leaked keys</h2>
      </div>
      <LeakPolicy />
      {leaks.error !== undefined && <FailureNote error={leaks.error} onRetry={leaks.retry} />}
      {leaks.rows?.map((leak) => (
        <LeakedKey key={leak.key_id} leak={leak} />
      ))}
      {leaks.more && (
        <div class="more">
          <button class="button" type="button" disabled={leaks.isLoadingMore} onClick={leaks.more}>
            {leaks.isLoadingMore ? 'Loading…' : 'Load more leaked keys'}
          </button>
        </div>
      )}
    </section>
  )
}

function LeakPolicy() {
  const policy = useQuery('key leak policy', async (signal) => (await api.getKeyLeakPolicy({ signal })).data)
  const [isBusy, run] = useAction()
  const { data, error, reload } = policy
  if (error !== undefined) return <FailureNote error={error} onRetry={reload} />
  if (!data) return null
  const revokes = data.action === 'revoke'
  const body = { action: revokes ? 'notify' : 'revoke' } as const
  const change = async () => {
    const isSure = await confirm({
      title: revokes ? 'Keep leaked keys valid?' : 'Revoke leaked keys?',
      text: revokes ? (
        <p>Whoever finds a key of yours can use it until you revoke it. You are told by the event key.leaked.</p>
      ) : (
        <p>A secret key that is found in public is refused within seconds, even your last one.</p>
      ),
      action: revokes ? 'Keep them valid' : 'Revoke them',
    })
    if (!isSure) return
    await run(async () => {
      const { data: changed } = await api.setKeyLeakPolicy({ body })
      policy.set(() => changed)
    })
  }
  return (
    <div class="card-head">
      <p class="muted">
        {revokes
          ? 'A secret key that is found in public is revoked at once.'
          : 'A secret key that is found in public stays valid, and you are told.'}
      </p>
      {may('own') && (
        <span class="row-actions">
          <button class="button small" type="button" disabled={isBusy} onClick={() => void change()}>
            {revokes ? 'Only tell us' : 'Revoke them at once'}
          </button>
          <CurlButton what="choose what happens to leaked keys" call={() => ['setKeyLeakPolicy', { body }]} />
        </span>
      )}
    </div>
  )
}

const outcomes = {
  revoked: ['good', 'revoked by the report'],
  notified: ['bad', 'stayed valid'],
  ended: ['good', 'had ended before'],
} as const

function LeakedKey({ leak }: { leak: Leak }) {
  const { key_name: name, key_hint: hint, places, requests } = leak
  const [tone, outcome] = outcomes[leak.action]
  return (
    <article class="stack" aria-label={`Leaked key ${name ?? hint}`}>
      <h3>
        {name ?? 'Without a name'} <code>{hint}</code> <Badge tone={tone}>{outcome}</Badge>
      </h3>
      <Facts
        facts={[
          ['Found', <Time at={leak.first_seen_at} />],
          ['Where', places.map((place, i) => <Place key={i} of={place} />)],
          ['Requests', <RequestCount of={leak} />],
          [
            'Their origins',
            requests.origins.map(({ origin, count }) => `${origin ?? 'servers'}: ${formatNumber(count)}`).join(', '),
          ],
          [
            'The last ones',
            requests.last.length > 0 ? requests.last.map((one) => <LastRequest key={one.request_id} of={one} />) : '',
          ],
        ]}
      />
    </article>
  )
}

/** The address is a stranger's text: it becomes a link only if it is https. */
function Place({ of: { url, source } }: { of: Leak['places'][number] }) {
  const isLink = url !== null && URL.canParse(url) && new URL(url).protocol === 'https:'
  return (
    <div>
      {isLink ? (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {url}
        </a>
      ) : (
        (url ?? 'at an unknown place')
      )}
      {source !== null && ` (${source})`}
    </div>
  )
}

function RequestCount({ of: { requests } }: { of: Leak }) {
  const { count, since, last_at, searched_from } = requests
  const searched = searched_from !== null && (
    <>
      . Requests before <Time at={searched_from} /> were not searched
    </>
  )
  if (count === 0) return <>none in the log{searched}</>
  return (
    <>
      {formatNumber(count)}, since <Time at={since} />, the last <Time at={last_at} />
      {searched}
    </>
  )
}

function LastRequest({ of: { method, path, status, origin, created_at } }: { of: Leak['requests']['last'][number] }) {
  return (
    <div>
      <b>{method}</b> <code>{path}</code> {status}, {origin ?? 'a server'}, <Time at={created_at} />
    </div>
  )
}

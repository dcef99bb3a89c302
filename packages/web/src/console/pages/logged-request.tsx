import { errors } from '@atrium/contract/errors'
import type { api } from '../api/api.ts'
import { CopyText } from '../components/copy.tsx'
import { Facts } from '../components/facts.tsx'
import { Badge, type Tone } from '../components/format.tsx'
import { Link } from '../router/router.tsx'

export type Logged = Awaited<ReturnType<typeof api.listRequests>>['data'][number]

const exactTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

/** One request, with the exact time and the whole id. Its address can be given to somebody else. */
export function LoggedRequest({ request, all }: { request: Logged; all: string }) {
  const { request_id, method, path, status, code, key_hint, key_id, origin, duration_ms, created_at } = request
  return (
    <section class="card" aria-label="The request">
      <Facts
        facts={[
          [
            'Request',
            <span>
              <b>{method}</b> <code>{path}</code>
            </span>,
          ],
          ['Status', <Badge tone={toneOf(status)}>{status}</Badge>],
          ['Error', code === null ? null : <Cause of={request} />],
          ['Meaning', code === null ? null : causes.get(code)],
          ['Time', <time dateTime={created_at}>{exactTime.format(new Date(created_at))}</time>],
          ['Took', `${duration_ms.toFixed(1)} ms`],
          ['Key', <code>{key_hint ?? key_id}</code>],
          ['Origin', origin ?? 'a server'],
          ['Id', <CopyText text={request_id} label="Copy the request id" />],
        ]}
      />
      {status >= 400 && (
        <p class="muted">
          The response that the caller received has the details: <code>error.message</code>
          {code === 'invalid_request' ? (
            <>
              , and <code>error.details</code>, which lists each invalid field
            </>
          ) : (
            ''
          )}
          . The log does not store them.
        </p>
      )}
      <p class="muted">
        The log does not store the bodies of requests and responses. It stores the path as the API declares it, without the ids.
      </p>
      <p class="row-actions">
        <Link class="button small" to={all}>
          All requests
        </Link>
      </p>
    </section>
  )
}

/** By code. A newer server may know codes that this page does not. */
const causes = new Map(Object.entries(errors).map(([code, { cause }]) => [code, cause]))

export function toneOf(status: number): Tone {
  if (status >= 500) return 'bad'
  return status >= 400 ? 'warn' : 'good'
}

/** The code with its page, which says what to do. */
export function Cause({ of: { code, doc_url } }: { of: Logged }) {
  if (code === null) return ''
  if (doc_url === null) return <code>{code}</code>
  return (
    <a class="nowrap" href={`/docs/errors/${code}`} target="_blank" rel="noopener noreferrer">
      {code}
    </a>
  )
}

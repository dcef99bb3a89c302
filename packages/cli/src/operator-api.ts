import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '@atrium/contract/limits'
import { delayMs, retryAfterSecondsOf, wait } from '@atrium/room-client/retry'
import { readConfig } from '@atrium/server/config/config'
import { readEnv } from '@atrium/server/config/env'

/** An error that the operator can fix. It is printed as one line. */
export class OperatorError extends Error {}

interface Answer<T> {
  data: T
  meta?: { next_cursor?: string }
}

interface Refusal {
  error?: { code: string; message: string; request_id?: string }
}

type Route = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`

/**
 * Calls an operator operation of the running installation, such as `GET /operator/audit`, and returns the answer's
 * `data`.
 */
export async function callOperator<T>(route: Route, body?: object): Promise<T> {
  return (await call<T>(route, body)).data
}

/** The same for an operation whose answer is not in `data`. */
export async function callOperatorBare<T>(route: Route, body: object): Promise<T> {
  const { res, text, explain } = await request(route, body)
  if (res.ok) return fieldsOf(text) as T
  throw explain()
}

/** Yields all entries of a paged list. */
export async function* listOperator<T>(path: `/${string}`): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined
  do {
    const query: string = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { data, meta } = await call<T[]>(`GET ${path}${path.includes('?') ? '&' : '?'}limit=${limits.pageMax}${query}`)
    yield* data
    cursor = meta?.next_cursor
  } while (cursor !== undefined)
}

/** Returns the body of an answer that is a stream. */
export async function streamOperator(path: `/${string}`): Promise<ReadableStream<Uint8Array>> {
  const { res, explain } = await request(`GET ${path}`, undefined, { isStream: true })
  if (res.ok && res.body) return res.body
  throw explain()
}

async function call<T>(route: Route, body?: object): Promise<Answer<T>> {
  const { res, text, explain } = await request(route, body)
  if (res.status === 204) return {} as Answer<T>
  const answer = fieldsOf(text) as Partial<Answer<T>>
  if (res.ok && 'data' in answer) return answer as Answer<T>
  throw explain()
}

/** Sends a request. `explain` makes the OperatorError for an error response. */
async function request(route: Route, body?: object, { isStream = false } = {}) {
  const env = readEnv()
  const config = readConfig(env)
  const { token, from } = await findToken(env.adminToken, join(config.dataDir, 'admin-token'))
  // Without this, fetch fails as if there were no server.
  if (/[^\t\x20-\x7e\x80-\xff]/.test(token))
    throw new OperatorError(`the operator's token of ${from} has a line end, or another character that no header has`)
  const [method, path] = route.split(' ') as [string, string]
  const isKeyed = method === 'POST' && body !== undefined
  const mayBeDone = method === 'GET' ? '' : '; the call may have taken effect: check before you repeat it'
  const init: RequestInit = {
    method,
    // A redirect is not followed, because the token is only for this server.
    redirect: 'manual',
    headers: {
      'x-admin-token': token,
      ...(body ? { 'content-type': 'application/json' } : {}),
      // With the key, a retry creates nothing twice and returns the same secrets.
      ...(isKeyed ? { 'idempotency-key': randomUUID() } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  }
  const attempt = async () => {
    const res = await fetch(`${config.publicUrl}/v1${path}`, init)
    return { res, text: isStream && res.ok ? '' : await res.text().catch(cutError) }
  }
  const { res, text } = await untilAnswered(attempt, isKeyed || method === 'GET').catch((error: Error) => {
    const { code } = (error.cause ?? {}) as { code?: string }
    const reason = code ? ` (${code})` : ''
    if (error instanceof CutAnswerError) throw new OperatorError(`the answer of ${config.publicUrl} was cut${reason}${mayBeDone}`)
    throw new OperatorError(
      `no server answers at ${config.publicUrl}${reason}; is it running? (set ATRIUM_PUBLIC_URL or PORT to its address)`,
    )
  })
  if (res.status >= 300 && res.status < 400)
    throw new OperatorError(
      `${config.publicUrl} redirects to ${res.headers.get('location')}; set ATRIUM_PUBLIC_URL to that address`,
    )
  const explain = () => {
    const { error } = fieldsOf(text) as Refusal
    if (res.status === 401 && error)
      return new OperatorError(`${config.publicUrl} does not accept the operator's token of ${from}: ${error.message}`)
    if (error) return new OperatorError(`${error.message} (${error.code}, request ${error.request_id})`)
    if (isOfProxy(res.status))
      return new OperatorError(
        `a proxy at ${config.publicUrl} answered ${res.status} instead of the server; is it running?${mayBeDone}`,
      )
    return new OperatorError(
      `${config.publicUrl} answered ${res.status} in a form that is not Atrium's; check that ATRIUM_PUBLIC_URL or PORT names the right server`,
    )
  }
  return { res, text, explain }
}

/** The connection ended in the middle of the body. */
class CutAnswerError extends Error {}

function cutError({ cause }: Error): never {
  throw new CutAnswerError('the answer was cut', { cause })
}

interface Attempted {
  res: Response
  text: string
}

const maxRepeats = 2
/** The longest Retry-After that is waited for: a proxy may send any value. */
const maxRetryAfterSeconds = 5

/**
 * Repeats a request whose answer did not arrive whole. One whose repeat creates nothing twice is also repeated if a proxy
 * answered for the server, and while an earlier attempt still runs.
 */
async function untilAnswered(attempt: () => Promise<Attempted>, isRepeatable: boolean): Promise<Attempted> {
  for (let tried = 0; ; tried++) {
    let retryAfterSeconds: number | undefined
    try {
      const answer = await attempt()
      if (tried === maxRepeats || !(isRepeatable && isWithoutOutcome(answer))) return answer
      retryAfterSeconds = retryAfterSecondsOf(answer.res.headers)
    } catch (error) {
      if (tried === maxRepeats) throw error
    }
    await wait(delayMs(tried, Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds)), undefined)
  }
}

function isWithoutOutcome({ res, text }: Attempted): boolean {
  const { error } = fieldsOf(text) as Refusal
  return error ? error.code === 'idempotency_in_progress' : isOfProxy(res.status)
}

const isOfProxy = (status: number) => [502, 503, 504].includes(status)

/** The fields of a JSON object; none if the text is something else, such as the page of a proxy. */
function fieldsOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

async function findToken(given: string | undefined, path: string): Promise<{ token: string; from: string }> {
  if (given !== undefined) return { token: given, from: 'ATRIUM_ADMIN_TOKEN' }
  try {
    return { token: (await readFile(path, 'utf8')).trim(), from: path }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM')
      throw new OperatorError(`${path} belongs to another user: run this as that user, or set ATRIUM_ADMIN_TOKEN`)
    throw new OperatorError(
      `no operator token: ${path} was not found; set ATRIUM_ADMIN_TOKEN, or run this on the server with its ATRIUM_DATA_DIR`,
    )
  }
}

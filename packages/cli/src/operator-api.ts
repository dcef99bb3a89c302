import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '@atrium/contract/limits'
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
  const { res, explain } = await request(route, body)
  const answer: unknown = await res.json().catch(() => ({}))
  if (res.ok) return answer as T
  throw explain(answer as Refusal)
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
  const { res, explain } = await request(`GET ${path}`)
  if (res.ok && res.body) return res.body
  throw explain((await res.json().catch(() => ({}))) as Refusal)
}

async function call<T>(route: Route, body?: object): Promise<Answer<T>> {
  const { res, explain } = await request(route, body)
  if (res.status === 204) return {} as Answer<T>
  const answer = (await res.json().catch(() => ({}))) as Answer<T> | Refusal
  if (res.ok && 'data' in answer) return answer
  throw explain('error' in answer ? answer : {})
}

/** Sends a request. `explain` makes the OperatorError for an error response. */
async function request(route: Route, body?: object) {
  const env = readEnv()
  const config = readConfig(env)
  const { token, from } = await findToken(env.adminToken, join(config.dataDir, 'admin-token'))
  // Without this, fetch fails as if there were no server.
  if (/[^\t\x20-\x7e\x80-\xff]/.test(token))
    throw new OperatorError(`the operator's token of ${from} has a line end, or another character that no header has`)
  const [method, path] = route.split(' ') as [string, string]
  const url = `${config.publicUrl}/v1${path}`
  const attempt = repeatableFetch(url, {
    method,
    // A redirect is not followed, because the token is only for this server.
    redirect: 'manual',
    headers: {
      'x-admin-token': token,
      ...(body ? { 'content-type': 'application/json' } : {}),
      // With the key, a retry creates nothing twice and returns the same secrets.
      ...(method === 'POST' && body ? { 'idempotency-key': randomUUID() } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const res = await attempt.catch((error: Error) => {
    const { code } = (error.cause ?? {}) as { code?: string }
    throw new OperatorError(
      `no server answers at ${config.publicUrl}${code ? ` (${code})` : ''}; is it running? (set ATRIUM_PUBLIC_URL or PORT to its address)`,
    )
  })
  if (res.status >= 300 && res.status < 400)
    throw new OperatorError(
      `${config.publicUrl} redirects to ${res.headers.get('location')}; set ATRIUM_PUBLIC_URL to that address`,
    )
  const explain = ({ error }: Refusal) => {
    if (res.status === 401 && error)
      return new OperatorError(`${config.publicUrl} does not accept the operator's token of ${from}: ${error.message}`)
    if (error) return new OperatorError(`${error.message} (${error.code}, request ${error.request_id})`)
    return new OperatorError(
      `${config.publicUrl} answered ${res.status} in a form that is not Atrium's; check that ATRIUM_PUBLIC_URL or PORT names the right server`,
    )
  }
  return { res, explain }
}

/** Sends the request once more if no response arrived. */
async function repeatableFetch(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request)
  } catch {
    return fetch(url, request)
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

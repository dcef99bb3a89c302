import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '@atrium/contract/limits'
import { readConfig } from '@atrium/server/config/config'
import { readEnv } from '@atrium/server/config/env'

/** An error that the operator can fix. It is printed as one line. */
export class OperatorError extends Error {}

interface Answer<T> {
  data?: T
  meta?: { next_cursor?: string }
  error?: { code: string; message: string; request_id?: string }
}

type Route = `${'GET' | 'POST' | 'PUT'} /${string}`

/**
 * Calls an operator operation of the running installation, such as `GET /operator/audit`, and returns the answer's
 * `data`.
 */
export async function callOperator<T>(route: Route, body?: object): Promise<T> {
  return (await call<T>(route, body)).data!
}

/** Yields all entries of a paged list. */
export async function* listOperator<T>(path: `/${string}`): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined
  do {
    const query: string = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { data, meta } = await call<T[]>(`GET ${path}?limit=${limits.pageMax}${query}`)
    yield* data!
    cursor = meta?.next_cursor
  } while (cursor !== undefined)
}

async function call<T>(route: Route, body?: object): Promise<Answer<T>> {
  const env = readEnv()
  const config = readConfig(env)
  const { token, from } = await findToken(env.adminToken, join(config.dataDir, 'admin-token'))
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
  const answer = (await res.json().catch(() => ({}))) as Answer<T>
  if (res.ok && answer.data !== undefined) return answer
  if (res.status === 401 && answer.error)
    throw new OperatorError(
      `${config.publicUrl} does not accept the operator's token of ${from}; set ATRIUM_ADMIN_TOKEN to its own`,
    )
  if (answer.error) throw new OperatorError(`${answer.error.message} (${answer.error.code}, request ${answer.error.request_id})`)
  throw new OperatorError(
    `${config.publicUrl} answered ${res.status}, and not as Atrium does; does ATRIUM_PUBLIC_URL or PORT name another server?`,
  )
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
    throw new OperatorError(`no operator token: set ATRIUM_ADMIN_TOKEN, or run this where ${path} can be read`)
  }
}

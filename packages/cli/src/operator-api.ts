import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '@atrium/server/config/config'
import { readEnv } from '@atrium/server/config/env'

/** An error that the operator can fix. It is printed as one line. */
export class OperatorError extends Error {}

/**
 * Calls an operator operation of the running installation, such as `GET /operator/audit`, and returns the answer's
 * `data`.
 */
export async function callOperator<T>(route: `${'GET' | 'POST' | 'PUT'} /${string}`, body?: object): Promise<T> {
  const env = readEnv()
  const config = readConfig(env)
  const token = env.adminToken ?? (await readToken(join(config.dataDir, 'admin-token')))
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
  const res = await attempt.catch(() => {
    throw new OperatorError(
      `no server answers at ${config.publicUrl}; is it running? (set ATRIUM_PUBLIC_URL or PORT to its address)`,
    )
  })
  if (res.status >= 300 && res.status < 400)
    throw new OperatorError(
      `${config.publicUrl} redirects to ${res.headers.get('location')}; set ATRIUM_PUBLIC_URL to that address`,
    )
  const answer = (await res.json().catch(() => ({}))) as { data?: T; error?: { message: string } }
  if (!res.ok || !answer.data) throw new OperatorError(answer.error?.message ?? `${url} answered ${res.status}`)
  return answer.data
}

/** Sends the request once more if no response arrived. */
async function repeatableFetch(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request)
  } catch {
    return fetch(url, request)
  }
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch {
    throw new OperatorError(`no operator token: set ATRIUM_ADMIN_TOKEN, or run this where ${path} can be read`)
  }
}

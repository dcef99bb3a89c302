import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '@atrium/server/config/config'
import { readEnv } from '@atrium/server/config/env'

/** Something that the operator can mend: printed as one line. */
export class OperatorError extends Error {}

/** Calls an operator operation of the running installation, such as `GET /operator/audit`, and gives the answer's data. */
export async function callOperator<T>(route: `${'GET' | 'POST' | 'PUT'} /${string}`, body?: object): Promise<T> {
  const env = readEnv()
  const config = readConfig(env)
  const token = env.adminToken ?? (await readToken(join(config.dataDir, 'admin-token')))
  const [method, path] = route.split(' ') as [string, string]
  const url = `${config.publicUrl}/v1${path}`
  const attempt = repeatableFetch(url, {
    method,
    // The token is for this server, not for where it may point.
    redirect: 'manual',
    headers: {
      'x-admin-token': token,
      ...(body ? { 'content-type': 'application/json' } : {}),
      // What is made is made once, and its secrets are shown again to the repeat.
      ...(method === 'POST' && body ? { 'idempotency-key': randomUUID() } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const res = await attempt.catch(() => {
    throw new OperatorError(`nothing answers at ${config.publicUrl}; is it running? (ATRIUM_PUBLIC_URL or PORT say where)`)
  })
  if (res.status >= 300 && res.status < 400)
    throw new OperatorError(
      `${config.publicUrl} points to ${res.headers.get('location')}; set ATRIUM_PUBLIC_URL to the address itself`,
    )
  const answer = (await res.json().catch(() => ({}))) as { data?: T; error?: { message: string } }
  if (!res.ok || !answer.data) throw new OperatorError(answer.error?.message ?? `${url} answered ${res.status}`)
  return answer.data
}

/** A second time where no answer came: the first one may have been lost on its way. */
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

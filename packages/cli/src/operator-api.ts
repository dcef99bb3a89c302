import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '@atrium/server/config/config'
import { readEnv } from '@atrium/server/config/env'

/** Something that the operator can mend: printed as one line. */
export class OperatorError extends Error {}

/** Calls an operator operation of the running installation, such as `GET /operator/audit`, and gives the answer's data. */
export async function callOperator<T>(route: `${'GET' | 'POST'} /${string}`, body?: object): Promise<T> {
  const env = readEnv()
  const config = readConfig(env)
  const token = env.adminToken ?? (await readToken(join(config.dataDir, 'admin-token')))
  const [method, path] = route.split(' ') as [string, string]
  const url = `${config.publicUrl}/v1${path}`
  let res: Response
  try {
    res = await fetch(url, {
      method,
      headers: { 'x-admin-token': token, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  } catch {
    throw new OperatorError(`nothing answers at ${config.publicUrl}; is it running? (ATRIUM_PUBLIC_URL or PORT say where)`)
  }
  const answer = (await res.json()) as { data?: T; error?: { message: string } }
  if (!res.ok || !answer.data) throw new OperatorError(answer.error?.message ?? `${url} answered ${res.status}`)
  return answer.data
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch {
    throw new OperatorError(`no operator token: set ATRIUM_ADMIN_TOKEN, or run this where ${path} can be read`)
  }
}

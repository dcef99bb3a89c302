import type { Caller } from '@atrium/contract/operation'
import { servedOperations } from '@atrium/contract/table'

/** What the client needs to know of an operation when it runs: the rest is types. */
export interface Route {
  id: string
  method: string
  path: string
  caller: Caller
  /** Lives at the API origin, without /v1. */
  atRoot: boolean
  /** Its JSON is not in the envelope. */
  raw: boolean
}

/** The served operations as routes. */
export function listRoutes(): Route[] {
  return servedOperations.map(({ id, method, path, caller, status, answers }) => ({
    id,
    method,
    path,
    caller,
    atRoot: status === 'legacy',
    raw: Object.values(answers).some((answer) => answer.raw),
  }))
}

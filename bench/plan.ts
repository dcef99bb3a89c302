/** What wrk sends: the requests go over the paths in turn. */
export interface Plan {
  method: 'GET' | 'POST'
  paths: string[]
  headers?: Record<string, string>
  body?: string
  /** Instead of one body: several, sent in turn to the first path. */
  bodies?: string[]
  /** A new Idempotency-Key on every request. */
  uniqueKeys?: boolean
  /** What each answer must be. */
  status: number
}

/**
 * Asks once for the first path and once for the last: wrk itself tells only answers of 400 and more from the others.
 */
export async function probe(
  origin: string,
  { method, paths, headers, bodies, body = bodies?.[0], uniqueKeys, status }: Plan,
): Promise<void> {
  for (const path of new Set([paths[0]!, paths.at(-1)!])) {
    const res = await fetch(origin + path, {
      method,
      redirect: 'manual',
      headers: {
        ...headers,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(uniqueKeys ? { 'idempotency-key': crypto.randomUUID() } : {}),
      },
      ...(body ? { body } : {}),
    })
    const text = await res.text()
    if (res.status !== status)
      throw new Error(`${method} ${path} answered ${res.status} instead of ${status}: ${text.slice(0, 300)}`)
  }
}

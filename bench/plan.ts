/** The requests that wrk sends. They cycle through the paths. */
export interface Plan {
  method: 'GET' | 'POST'
  /** After a tab, a path may be followed by the key of its request. */
  paths: string[]
  headers?: Record<string, string>
  body?: string
  /** Several bodies instead of one, sent in turn to the first path. */
  bodies?: string[]
  /** A new Idempotency-Key on every request. */
  uniqueKeys?: boolean
  /** What each answer must be. */
  status: number
}

/** Requests the first and the last path once each, because wrk itself only counts answers of 400 and above. */
export async function probe(
  origin: string,
  { method, paths, headers, bodies, body = bodies?.[0], uniqueKeys, status }: Plan,
): Promise<void> {
  for (const line of new Set([...paths.slice(0, 1), ...paths.slice(-1)])) {
    const [path = '', key] = line.split('\t')
    const res = await fetch(origin + path, {
      method,
      redirect: 'manual',
      headers: {
        ...headers,
        ...(key ? { authorization: `Bearer ${key}` } : {}),
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

/** Sends a preparing request, and repeats it while the server answers 503, because a busy machine is not a fault of the build. */
export async function fetchPatiently(url: string, init: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const res = await fetch(url, init)
    if (res.status !== 503 || attempt === 10) return res
    await res.body?.cancel()
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}

import { AtriumError, errorOfAnswer } from './atrium-error.ts'
import type { AnyInput, AnyResult, AtriumClient } from './call.ts'
import { wait, type Wait, withRetries } from './retry.ts'
import { listRoutes, type Route } from './routes.ts'

export interface ClientOptions {
  /** Where the API is, such as https://api.example/v1. The origin alone does too. */
  baseUrl: string
  /** A secret (wsk_…, servers only) or publishable key (wpk_…). */
  key?: string
  /** For those who run the installation: opens operator calls. */
  adminToken?: string
  /** Another fetch than the platform's. */
  fetch?: typeof globalThis.fetch
  /** Further tries of a call that may be repeated: a GET, or one with an idempotencyKey. Default 2. */
  retries?: number
  /** How long one try may take, its body included. Default 30,000. */
  timeoutMs?: number
  /** How to wait between tries; for tests. */
  wait?: Wait
}

/**
 * A client with a method for each served operation. A method takes the path's parameters by name, and beside them `query`, `body`,
 * `headers`, `collectionToken`, `controlToken`, `idempotencyKey` and `signal`, as far as the operation has them. It resolves to
 * `{status, data, nextCursor?, headers}`, and throws AtriumError; when `signal` aborts, it throws the signal's reason.
 */
export function createClient(options: ClientOptions): AtriumClient {
  const settings: Settings = {
    rootUrl: options.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, ''),
    key: options.key,
    adminToken: options.adminToken,
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: options.timeoutMs ?? 30_000,
  }
  const retries = options.retries ?? 2
  const methods = listRoutes().map((route) => [
    route.id,
    async (input: AnyInput = {}): Promise<AnyResult> => {
      const request = requestOf(route, input, settings)
      const attempt = () => send(request, route, input.signal, settings)
      const repeatable = route.method === 'GET' || input.idempotencyKey !== undefined
      return withRetries(attempt, { retries, repeatable, signal: input.signal, wait: options.wait ?? wait })
    },
  ])
  // The table that gives the methods gives their types too.
  return Object.fromEntries(methods)
}

interface Settings {
  rootUrl: string
  key: string | undefined
  adminToken: string | undefined
  fetch: typeof globalThis.fetch
  timeoutMs: number
}

interface Request {
  url: string
  method: string
  headers: Record<string, string>
  body?: string
}

/** What is sent: made once, so that each try sends the same bytes. */
function requestOf(route: Route, input: AnyInput, settings: Settings): Request {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = input[name]
    // A dot segment would be taken out of the address, and the call would go elsewhere.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${route.id} needs ${name}`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input.query ?? {})) if (value !== undefined) query.set(name, String(value))
  const search = query.size > 0 ? `?${query}` : ''
  return {
    url: `${settings.rootUrl}${route.atRoot ? '' : '/v1'}${path}${search}`,
    method: route.method,
    headers: headersOf(route, input, settings),
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  }
}

function headersOf(route: Route, input: AnyInput, { key, adminToken }: Settings): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(input.headers ?? {})) if (value !== undefined) headers[name] = String(value)
  if (input.body !== undefined) headers['content-type'] = 'application/json'
  if (route.caller === 'operator' && adminToken) headers['x-admin-token'] = adminToken
  const bearer = route.caller === 'control' ? input.controlToken : key
  if (route.caller !== 'operator' && route.caller !== 'anyone' && bearer) headers.authorization = `Bearer ${bearer}`
  if (input.collectionToken !== undefined) headers['x-collection-token'] = input.collectionToken
  if (input.idempotencyKey !== undefined) headers['idempotency-key'] = input.idempotencyKey
  return headers
}

async function send(request: Request, route: Route, signal: AbortSignal | undefined, settings: Settings): Promise<AnyResult> {
  const { url, ...init } = request
  // Taken out first: a browser's fetch refuses to be called as a method of something else.
  const { fetch } = settings
  const timeout = AbortSignal.timeout(settings.timeoutMs)
  let res: Response
  let bytes: Uint8Array
  try {
    res = await fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // No redirect is ever answered; following one could carry a token elsewhere.
      redirect: 'error',
      credentials: 'omit',
    })
    bytes = new Uint8Array(await res.arrayBuffer())
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    const message = timeout.aborted ? `No answer within ${settings.timeoutMs} ms` : 'The server could not be reached'
    throw new AtriumError({ status: 0, code: 'network_error', message, cause })
  }
  if (!res.ok && res.status !== 304) throw errorOfAnswer(res, new TextDecoder().decode(bytes))
  return resultOf(res, bytes, route)
}

function resultOf(res: Response, bytes: Uint8Array, route: Route): AnyResult {
  const { status, headers } = res
  if (bytes.length === 0) return { status, headers }
  const type = headers.get('content-type') ?? ''
  if (!/\bjson\b/.test(type)) return { status, headers, data: type.startsWith('text/') ? new TextDecoder().decode(bytes) : bytes }
  const body = parseJson(bytes, status)
  if (route.raw) return { status, headers, data: body }
  const { data, meta } = body as { data?: unknown; meta?: { next_cursor?: string } }
  return { status, headers, data, ...(meta?.next_cursor ? { nextCursor: meta.next_cursor } : {}) }
}

function parseJson(bytes: Uint8Array, status: number): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (cause) {
    throw new AtriumError({ status, code: 'unexpected_answer', message: `The server answered ${status} with broken JSON`, cause })
  }
}

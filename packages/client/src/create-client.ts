import type { Caller } from '@atrium/contract/operation'
import { isJsonObject } from '@atrium/contract/strict-json'
import { randomId } from '@atrium/room-client/new-room-secret'
import { AtriumError } from './atrium-error.ts'
import type { AnyInput, AnyResult, AtriumClient } from './call.ts'
import { makeError } from './error-of-answer.ts'
import { findOutcome, isLost } from './find-outcome.ts'
import { wait, type Wait, withRetries } from './retry.ts'
import { routes } from './routes.ts'
import { type HttpAnswer, type HttpRequest, jsonOf, send, type Transport } from './send.ts'

export interface ClientOptions {
  /** The base URL of the API, such as https://api.example/v1. The origin alone is accepted too. */
  baseUrl: string
  /** A secret (wsk_…, servers only) or publishable key (wpk_…). */
  key?: string
  /** The control token of one session (sct_…), for session calls without their own `controlToken`. */
  controlToken?: string
  /** The operator's admin token, for operator calls. */
  adminToken?: string
  /** A replacement for the global fetch. */
  fetch?: typeof globalThis.fetch
  /** The number of retries of a repeatable call; see `repeatable` of InputOf. Default 2. */
  retries?: number
  /** The time limit of one attempt including its body, in milliseconds. Default 30,000. */
  timeoutMs?: number
  /** Waits between attempts; for tests. */
  wait?: Wait
}

/**
 * A client with one method per served operation. A method takes the path parameters by name and, as far as the
 * operation declares them, `query`, `body`, `headers`, `collectionToken`, `controlToken`, `idempotencyKey`,
 * `repeatable` and `signal`. It resolves to `{status, data, nextCursor?, warnings?, headers}`. It throws the
 * AtriumError subclass of the error's code, or the signal's reason when `signal` aborts.
 *
 * A POST or PATCH that accepts an Idempotency-Key gets a random one, the same for all its attempts.
 *
 * It throws TypeError for a base URL or credential that cannot be one, before anything is sent.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://api.example/v1', key: process.env.ATRIUM_KEY })
 * const { data } = await client.createCollection({ body: { metadata: { share_title: 'A harbour at dusk' } } })
 */
export function createClient(options: ClientOptions): AtriumClient {
  const settings: Settings = {
    rootUrl: rootOf(options.baseUrl),
    key: options.key,
    controlToken: options.controlToken,
    adminToken: options.adminToken,
    transport: { fetch: options.fetch ?? globalThis.fetch, timeoutMs: options.timeoutMs ?? 30_000 },
  }
  const retries = options.retries ?? 2
  const methods = Object.entries(routes).map(([id, line]) => [
    id,
    async (given: AnyInput = {}): Promise<AnyResult> => {
      const route = parseRoute(id, line)
      const input = route.keyed ? { ...given, idempotencyKey: given.idempotencyKey ?? randomId() } : given
      const request = requestOf(route, input, settings)
      const repeatable = input.repeatable ?? mayRepeat(route)
      const attempt = sender(route, request, settings, { signal: input.signal, repeatable })
      return withRetries(attempt, { retries, repeatable, signal: input.signal, wait: options.wait ?? wait })
    },
  ])
  // The types derive from the same table as the methods.
  return Object.fromEntries(methods)
}

/**
 * Sends a request once. If the answer of an earlier attempt was lost and the operation bills, it asks for the outcome
 * before it sends the request again. It also asks after a lost answer that must not lead to a repeat.
 */
function sender(
  route: Route,
  request: HttpRequest,
  { transport, key, rootUrl }: Settings,
  { signal, repeatable }: { signal: AbortSignal | undefined; repeatable: boolean },
): () => Promise<AnyResult> {
  const canAsk = route.keyed && key !== undefined && (route.caller === 'secret' || route.caller === 'publishable')
  const ask = async () => {
    const found = await findOutcome({ operation: route.id, request, rootUrl, signal }, transport)
    return found && resultOf(found, route)
  }
  let lost = false
  return async () => {
    const known = lost && route.billed && canAsk ? await ask() : undefined
    if (known) return known
    try {
      return resultOf(await send(request, transport, signal), route)
    } catch (error) {
      lost = error instanceof AtriumError && isLost(error)
      const answer = lost && canAsk && !repeatable ? await ask() : undefined
      if (answer) return answer
      throw error
    }
  }
}

/** A page may also pass a path of its own origin. */
function rootOf(baseUrl: unknown): string {
  const text = typeof baseUrl === 'string' ? baseUrl.trim() : undefined
  if (text !== undefined && /^https?:\/\/[^/?#]*@/i.test(text))
    throw new TypeError('The base URL must have no user name or password')
  if (text === undefined || !/^(?:https?:\/\/[^?#]+|\/[^?#]*|)$/i.test(text))
    throw new TypeError(`The base URL must be like https://api.example/v1, not ${JSON.stringify(baseUrl)}`)
  return text.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '')
}

interface Settings {
  rootUrl: string
  key: string | undefined
  controlToken: string | undefined
  adminToken: string | undefined
  transport: Transport
}

interface Route {
  id: string
  method: string
  /** The path from the origin on, with /v1 unless the operation is served at the root. */
  path: string
  caller: Caller
  keyed: boolean
  billed: boolean
  raw: boolean
}

function parseRoute(id: string, line: string): Route {
  const [method, path, caller, ...flags] = line.split(' ') as [string, string, Caller, ...string[]]
  return {
    id,
    method,
    path,
    caller,
    keyed: flags.includes('keyed'),
    billed: flags.includes('billed'),
    raw: flags.includes('raw'),
  }
}

/** GET and PUT are idempotent (RFC 9110, 9.2.2). DELETE is too, but its retry would fail with 404. */
function mayRepeat({ method, keyed }: Route): boolean {
  return keyed || method === 'GET' || method === 'PUT'
}

function requestOf(route: Route, input: AnyInput, settings: Settings): HttpRequest {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = input[name]
    // URL normalisation would remove a dot segment, and the call would go to another path.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${route.id} needs ${name}`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input.query ?? {})) if (value !== undefined) query.set(name, String(value))
  const search = query.size > 0 ? `?${query}` : ''
  const url = `${settings.rootUrl}${path}${search}`
  const headers = headersOf(route, input, settings)
  // fetch reports both mistakes as it does a failed connection, and the call would be repeated.
  if (!URL.canParse(url, (globalThis as { location?: { href: string } }).location?.href))
    throw new TypeError('The base URL must be like https://api.example/v1: a path is enough only in a page')
  for (const [name, value] of Object.entries(headers))
    if (!/^[\x20-\x7e]*$/.test(value.trim()))
      throw new TypeError(`The header ${name} must be printable ASCII. Is there a placeholder in its value?`)
  return {
    url,
    method: route.method,
    headers,
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  }
}

function headersOf({ caller }: Route, input: AnyInput, settings: Settings): Record<string, string> {
  const { key, controlToken, adminToken } = settings
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(input.headers ?? {})) if (value !== undefined) headers[name] = String(value)
  if (input.body !== undefined) headers['content-type'] = 'application/json'
  if (caller === 'operator' && adminToken) headers['x-admin-token'] = adminToken
  const bearer = caller === 'control' ? (input.controlToken ?? controlToken) : key
  if (caller !== 'operator' && caller !== 'anyone' && bearer) headers.authorization = `Bearer ${bearer}`
  if (input.collectionToken !== undefined) headers['x-collection-token'] = input.collectionToken
  if (input.idempotencyKey !== undefined) headers['idempotency-key'] = input.idempotencyKey
  return headers
}

interface ResponseMeta {
  next_cursor?: string
  warnings?: AnyResult['warnings']
}

function resultOf(answer: HttpAnswer, { raw }: Route): AnyResult {
  const { res, bytes, stream } = answer
  const { status, headers } = res
  if (stream) return { status, headers, data: stream }
  if (bytes.length === 0) return { status, headers }
  const type = headers.get('content-type') ?? ''
  if (raw && !/\bjson\b/.test(type))
    return { status, headers, data: type.startsWith('text/') ? new TextDecoder().decode(bytes) : bytes }
  const body = jsonOf(answer)
  if (raw) return { status, headers, data: body }
  if (!isJsonObject(body) || !Object.hasOwn(body, 'data')) {
    const message = `The server answered ${status} with JSON that is not the API's: is the base URL right?`
    throw makeError({ status, code: 'unexpected_answer', message })
  }
  const { data, meta: { next_cursor: nextCursor, warnings } = {} } = body as { data: unknown; meta?: ResponseMeta }
  return { status, headers, data, ...(nextCursor ? { nextCursor } : {}), ...(warnings ? { warnings } : {}) }
}

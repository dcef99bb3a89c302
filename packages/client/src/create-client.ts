import type { Caller } from '@atrium/contract/operation'
import { randomId } from '@atrium/room-client/new-room-secret'
import type { AnyInput, AnyResult, AtriumClient } from './call.ts'
import { wait, type Wait, withRetries } from './retry.ts'
import { routes } from './routes.ts'
import { type HttpAnswer, type HttpRequest, jsonOf, send, type Transport } from './send.ts'

export interface ClientOptions {
  /** Where the API is, such as https://api.example/v1. The origin alone does too. */
  baseUrl: string
  /** A secret (wsk_…, servers only) or publishable key (wpk_…). */
  key?: string
  /** Of one session (sct_…), for calls about it that name none of their own. */
  controlToken?: string
  /** For those who run the installation: opens operator calls. */
  adminToken?: string
  /** Another fetch than the platform's. */
  fetch?: typeof globalThis.fetch
  /** Further tries of a call that may be repeated; see `repeatable` of InputOf. Default 2. */
  retries?: number
  /** How long one try may take, its body included. Default 30,000. */
  timeoutMs?: number
  /** How to wait between tries; for tests. */
  wait?: Wait
}

/**
 * A client with a method for each served operation. A method takes the path's parameters by name, and beside them `query`, `body`,
 * `headers`, `collectionToken`, `controlToken`, `idempotencyKey`, `repeatable` and `signal`, as far as the operation has them. It resolves to
 * `{status, data, nextCursor?, headers}`, and throws the AtriumError of the code's class; when `signal` aborts, the signal's reason.
 *
 * A POST that takes an Idempotency-Key gets a fresh one, which stays the same over its tries.
 */
export function createClient(options: ClientOptions): AtriumClient {
  const settings: Settings = {
    rootUrl: options.baseUrl.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, ''),
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
      const attempt = async () => resultOf(await send(request, settings.transport, input.signal), route)
      return withRetries(attempt, {
        retries,
        repeatable: input.repeatable ?? mayRepeat(route),
        signal: input.signal,
        wait: options.wait ?? wait,
      })
    },
  ])
  // The table that gives the methods gives their types too.
  return Object.fromEntries(methods)
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
  /** From the origin on: with /v1, or without where the operation lives at the root. */
  path: string
  caller: Caller
  keyed: boolean
  raw: boolean
}

function parseRoute(id: string, line: string): Route {
  const [method, path, caller, ...flags] = line.split(' ') as [string, string, Caller, ...string[]]
  return { id, method, path, caller, keyed: flags.includes('keyed'), raw: flags.includes('raw') }
}

/** GET and PUT are idempotent (RFC 9110, 9.2.2). So is DELETE, but a repeat would be told that there is nothing to delete. */
function mayRepeat({ method, keyed }: Route): boolean {
  return keyed || method === 'GET' || method === 'PUT'
}

function requestOf(route: Route, input: AnyInput, settings: Settings): HttpRequest {
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
    url: `${settings.rootUrl}${path}${search}`,
    method: route.method,
    headers: headersOf(route, input, settings),
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

function resultOf(answer: HttpAnswer, { raw }: Route): AnyResult {
  const { res, bytes } = answer
  const { status, headers } = res
  if (bytes.length === 0) return { status, headers }
  const type = headers.get('content-type') ?? ''
  if (!/\bjson\b/.test(type)) return { status, headers, data: type.startsWith('text/') ? new TextDecoder().decode(bytes) : bytes }
  const body = jsonOf(answer)
  if (raw) return { status, headers, data: body }
  const { data, meta } = body as { data?: unknown; meta?: { next_cursor?: string } }
  return { status, headers, data, ...(meta?.next_cursor ? { nextCursor: meta.next_cursor } : {}) }
}

import { checkUrl, type UrlCheck } from './check-url.ts'
import type { FetchLimits } from './guarded-fetch.ts'
import type { EgressMode } from './host-rule.ts'
import type { ResolveName } from './resolve-name.ts'

/** Longer answers are only expected for pictures. */
export const usualAnswerBytes = 4 * 1024 * 1024

export interface EgressRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Time limit from the lookup to the last byte of the response. Default 15 s. */
  timeoutMs?: number
  /** The largest body. The rest is discarded and the connection closed. Default 64 KiB. */
  maxAnswerBytes?: number
  signal?: AbortSignal
}

export interface EgressAnswer {
  status: number
  /** Names in lower case. The values of a header that was sent several times are joined by commas. */
  headers: Record<string, string>
  body: Buffer
  truncated: boolean
}

/**
 * All requests to URLs of tenants go through the egress. It connects to public addresses only, and checks the address
 * at every connection.
 */
export interface Egress {
  /** Checks only the text of a URL, for example at registration. */
  checkUrl(url: string): UrlCheck
  /** @throws EgressError, or the reason of `signal` if it was aborted */
  send(request: EgressRequest): Promise<EgressAnswer>
  /**
   * A fetch for libraries. Limits: 120 s and 4 MiB per answer. Redirects are returned as answers; a dispatcher in
   * the options is ignored.
   */
  fetch: typeof globalThis.fetch
  fetchWithin(limits: FetchLimits): typeof globalThis.fetch
  close(): Promise<void>
}

/** The part of the egress that needs the HTTP client. */
export type OpenedEgress = Pick<Egress, 'send' | 'fetchWithin' | 'close'>

export interface EgressOptions {
  mode: EgressMode
  resolve?: ResolveName
}

/** Opens the egress. Its HTTP client is loaded by the first request: most processes send none for most of the time. */
export function openEgress(options: EgressOptions): Egress {
  let opening: Promise<OpenedEgress> | undefined
  const open = () => (opening ??= import('./guarded-egress.ts').then(({ openGuardedEgress }) => openGuardedEgress(options)))
  const fetchWithin =
    (limits: FetchLimits): typeof globalThis.fetch =>
    async (input, init) =>
      (await open()).fetchWithin(limits)(input, init)

  return {
    checkUrl: (url) => checkUrl(url, options.mode),
    send: async (request) => (await open()).send(request),
    fetch: fetchWithin({ timeoutMs: 120_000, maxAnswerBytes: usualAnswerBytes }),
    fetchWithin,
    close: async () => (await opening)?.close(),
  }
}

import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { checkUrl, parseUrl, type UrlCheck } from './check-url.ts'
import { startDeadline } from './deadline.ts'
import { openGuardedAgent } from './guarded-agent.ts'
import { guardedFetch, type FetchLimits } from './guarded-fetch.ts'
import type { EgressMode } from './host-rule.ts'
import { asEgressError, openAnswer } from './open-answer.ts'
import { resolveName, type ResolveName } from './resolve-name.ts'

const mebibyte = 1024 * 1024
/** Pictures alone are longer. */
const usualAnswerBytes = 4 * mebibyte

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
  /** Names in lower case; one that came several times has its values joined by a comma. */
  headers: Record<string, string>
  body: Buffer
  truncated: boolean
}

/** Every request to a URL of a tenant goes through here: only to public addresses, checked at every connection. */
export interface Egress {
  /** Checks only the text of a URL, for registration. */
  checkUrl(url: string): UrlCheck
  /** @throws EgressError; the reason of `signal` when that was aborted */
  send(request: EgressRequest): Promise<EgressAnswer>
  /**
   * For libraries that take a fetch: 120 s and 4 MiB an answer. Redirects come back as answers; any other dispatcher
   * is ignored.
   */
  fetch: typeof globalThis.fetch
  fetchWithin(limits: FetchLimits): typeof globalThis.fetch
  close(): Promise<void>
}

export interface EgressOptions {
  mode: EgressMode
  resolve?: ResolveName
}

export function openEgress({ mode, resolve = resolveName }: EgressOptions): Egress {
  const usual = openGuardedAgent({ mode, resolve, maxConnectionBytes: 32 * mebibyte })
  const large = openGuardedAgent({ mode, resolve, maxConnectionBytes: 128 * mebibyte })
  const agentFor = (maxBytes: number) => (maxBytes > usualAnswerBytes ? large : usual)
  const fetchWithin = (limits: FetchLimits) => guardedFetch(agentFor(limits.maxAnswerBytes), mode, limits)

  const send = async (request: EgressRequest): Promise<EgressAnswer> => {
    const { method, url, headers = {}, body = null, timeoutMs = 15_000, maxAnswerBytes = 65_536, signal } = request
    const parsed = parseUrl(url, mode)
    const deadline = startDeadline(timeoutMs, signal)
    try {
      const answer = await openAnswer(
        agentFor(maxAnswerBytes),
        { method, url: parsed, headers: Object.entries(headers), body },
        deadline,
      )
      return {
        status: answer.statusCode,
        headers: joinHeaders(answer.headers),
        ...(await readCapped(answer.body, maxAnswerBytes)),
      }
    } catch (error) {
      throw asEgressError(error, deadline)
    } finally {
      deadline.clear()
    }
  }

  return {
    checkUrl: (url) => checkUrl(url, mode),
    send,
    fetch: fetchWithin({ timeoutMs: 120_000, maxAnswerBytes: usualAnswerBytes }),
    fetchWithin,
    // Destroyed instead of closed, because running exchanges may last for minutes.
    close: async () => {
      await Promise.all([usual.destroy(), large.destroy()])
    },
  }
}

function joinHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))
}

async function readCapped(stream: Readable, maxBytes: number): Promise<{ body: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  // Leaving the loop destroys the stream, and with it the connection.
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('an answer is read as bytes')
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: true }
  }
  return { body: Buffer.concat(chunks), truncated: false }
}

import { JoinedPieces } from '@atrium/contract/joined-pieces'
import { type JsonObject, parseJsonObject } from '@atrium/contract/strict-json'
import { retryAfterSecondsOf, wait } from '@atrium/room-client/retry'
import { type Deadline, DeadlinePassed } from './deadline.ts'
import { CheckFailed } from './report.ts'

export interface DownloadLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
  /**
   * Only for JSON: the largest number of objects, lists, members and elements. A long list needs many times its bytes
   * as memory.
   */
  readonly maxParts?: number
}

export interface Downloaded {
  readonly bytes: Buffer
  readonly headers: Headers
}

export const SMALL: DownloadLimits = { maxBytes: 64 * 1024, timeoutMs: 15_000 }
export const PAGE: DownloadLimits = { maxBytes: 1024 * 1024, timeoutMs: 30_000 }
export const PAGE_FILE: DownloadLimits = { maxBytes: 8 * 1024 * 1024, timeoutMs: 30_000 }
export const ARCHIVE: DownloadLimits = { maxBytes: 32 * 1024 * 1024, timeoutMs: 120_000 }
/** The largest answer to `sealed`: 68 MiB of lines, in which JSON escapes each quotation mark, and five members. */
export const ROOM: DownloadLimits = { maxBytes: 128 * 1024 * 1024, timeoutMs: 300_000, maxParts: 100 }

/** The longest pause between two chunks of an answer. */
const IDLE_MS = 15_000

/** How often a request is repeated that the service's limit of requests refused, and the longest wait before that. */
const MAX_REPEATS = 3
const MAX_RETRY_AFTER_SECONDS = 3

/** Sends requests to one service within the time limit of all checks. */
export class Downloads {
  readonly origin: string
  readonly #deadline: Deadline

  constructor(origin: string, deadline: Deadline) {
    this.origin = origin
    this.#deadline = deadline
  }

  /** GETs, or POSTs `body` as JSON. Redirects are not followed, because the check is about the given address. */
  async get(path: string, limits: DownloadLimits, body?: object): Promise<Downloaded> {
    const { bytes, headers } = await this.#request(path, limits, body, [200])
    return { bytes, headers }
  }

  /** POSTs a request that is to be refused, and returns the answer. */
  async refusal(path: string, body: object): Promise<{ status: number; answer: JsonObject }> {
    const { status, bytes } = await this.#request(path, SMALL, body)
    return { status, answer: parseJsonObject(bytes) ?? {} }
  }

  async #request(path: string, limits: DownloadLimits, body: object | undefined, accepted?: readonly number[]) {
    const post = body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    // Not AbortSignal.timeout, for the reason in Deadline.
    const late = new AbortController()
    const abortAfter = (ms: number, what: string) => setTimeout(() => late.abort(new CheckFailed(`${what} ${ms / 1_000} s`)), ms)
    const idle = abortAfter(IDLE_MS, 'nothing arrived for')
    const limit = abortAfter(limits.timeoutMs, 'it is not complete after')
    const signal = AbortSignal.any([this.#deadline.signal, late.signal])
    try {
      this.#deadline.check()
      const send = () =>
        fetch(this.origin + path, { ...post, redirect: 'manual', signal, credentials: 'omit', cache: 'no-store' })
      let response = await send()
      for (let repeats = 0; response.status === 429 && repeats < MAX_REPEATS; repeats++) {
        const seconds = Math.max(retryAfterSecondsOf(response.headers) ?? 1, 1)
        if (seconds > MAX_RETRY_AFTER_SECONDS) break
        await response.body?.cancel()
        await wait(seconds * 1_000, signal)
        response = await send()
      }
      if (accepted && !accepted.includes(response.status)) {
        await response.body?.cancel()
        const where = response.status >= 300 && response.status < 400 ? ' (a redirect, which is not followed)' : ''
        throw new CheckFailed(`${path} answered ${response.status}${where}`)
      }
      const { status, headers } = response
      return { status, headers, bytes: await readCapped(response, path, limits.maxBytes, idle) }
    } catch (error) {
      if (error instanceof DeadlinePassed || this.#deadline.signal.aborted) throw new DeadlinePassed(path)
      if (error instanceof CheckFailed && error !== late.signal.reason) throw error
      throw new CheckFailed(`${path} cannot be fetched: ${reasonOf(error)}`)
    } finally {
      clearTimeout(idle)
      clearTimeout(limit)
    }
  }

  /** Fetches a JSON object. The caller must check its members. */
  async getJson(path: string, limits: DownloadLimits, body?: object): Promise<JsonObject> {
    const { bytes } = await this.get(path, limits, body)
    if (limits.maxParts !== undefined && countParts(bytes, limits.maxParts) > limits.maxParts) {
      throw new CheckFailed(`${path} answered with more than ${limits.maxParts} members`)
    }
    const value = parseJsonObject(bytes)
    if (value) return value
    throw new CheckFailed(`${path} did not answer with a JSON object`)
  }
}

async function readCapped(response: Response, path: string, maxBytes: number, idle: NodeJS.Timeout): Promise<Buffer> {
  const pieces = new JoinedPieces()
  for await (const chunk of response.body ?? []) {
    idle.refresh()
    if (pieces.length + chunk.length > maxBytes) throw new CheckFailed(`${path} answered more than ${maxBytes} bytes`)
    pieces.add(chunk)
  }
  return pieces.take()
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENERS = new Set([...'{[,'].map((character) => character.charCodeAt(0)))

/** Counts objects, lists and commas outside of strings, up to `max`. */
function countParts(json: Buffer, max: number): number {
  let count = 0
  for (let at = 0; at < json.length && count <= max; at++) {
    if (OPENERS.has(json[at] ?? 0)) count++
    if (json[at] === QUOTE) at = endOfString(json, at)
  }
  return count
}

function endOfString(json: Buffer, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}

/** The reason of a failed fetch, which is in the cause of the error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause, message } = error
  if (!(cause instanceof Error)) return message
  return 'code' in cause ? String(cause.code) : cause.message || message
}

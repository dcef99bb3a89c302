import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestApi } from './test-api.ts'

interface Send {
  key?: string
  collectionToken?: string
  idempotencyKey?: string
  body?: unknown
  headers?: Record<string, string>
}

// What a test looks into is its own business: answers are asserted, not typed.
// oxlint-disable-next-line typescript/no-explicit-any
export type Got = { status: number; headers: Headers; text: string; body: any }

/** Sends one request as an outsider would, and reads the whole answer. */
export async function send(api: Pick<TestApi, 'baseUrl'>, method: string, path: string, options: Send = {}): Promise<Got> {
  const { key, collectionToken, idempotencyKey, body, headers } = options
  const res = await fetch(api.baseUrl + path, {
    method,
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(collectionToken ? { 'x-collection-token': collectionToken } : {}),
      ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await res.text()
  const json = res.headers.get('content-type')?.startsWith('application/json')
  return { status: res.status, headers: res.headers, text, body: json ? JSON.parse(text) : undefined }
}

/**
 * Repeats the same request while the answer is 503, as a client does. On a busy machine, one of many simultaneous
 * writes may exceed its time limit.
 */
export async function untilServed<T extends Pick<Response, 'status' | 'headers'>>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const got = await request()
    if (got.status !== 503 || tries === 10) return got
    await delay(1_000 * Number(got.headers.get('retry-after')))
  }
}

export const sendUntilServed = (...request: Parameters<typeof send>) => untilServed(() => send(...request))

export function assertError(got: Got, status: number, code: string): void {
  assert.deepEqual([got.status, got.body?.error?.code], [status, code], got.text)
}

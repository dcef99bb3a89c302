import assert from 'node:assert/strict'
import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { adminToken } from './atrium-process.ts'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** The body as it came. */
  text: string
  /** What is under `data`. */
  data: AnswerData
  /** error.code */
  code: string | undefined
}

/** The fields that tests read, for all operations. */
export interface AnswerData {
  id: string
  status: string
  admin_token: string
  contributor_token: string
  key: string
  token: string
  invite_code: string
  secret_key: string
  publishable_key: string
  item_count: number
  epoch: string
  url: string
  license_key: string
  wallet_code: string
  coupon: string
  charged_credits: number
  findings: object[]
  results: { id: string; status: string }[]
  control_token: string
  agent_id: string
  summon_key: string
  tenant: { id: string; status: string }
  items: { id: string; type: string; content: Record<string, unknown> }[]
}

export interface CallOptions {
  /** A tenant key. */
  key?: string
  /** X-Collection-Token. */
  token?: string
  /** Sends the operator's token. */
  operator?: boolean
  idempotencyKey?: string
  /** JSON; a string is sent as it is. */
  body?: unknown
  headers?: Record<string, string>
  agent?: Agent
  /** How long an answer is waited for. */
  timeoutMs?: number
}

/** The connection failed before an answer came. */
export class NoAnswer extends Error {
  readonly code: string
  /** Whether the request used a connection that had carried one before. */
  readonly reusedSocket: boolean

  constructor(code: string, reusedSocket: boolean) {
    super(`no answer: ${code}${reusedSocket ? ' on a reused connection' : ''}`)
    this.code = code
    this.reusedSocket = reusedSocket
  }
}

const keepAlive = new Agent({ keepAlive: true })

/**
 * Calls `POST /v1/collections` of the server at the origin. Throws NoAnswer if there is no answer; an error status is
 * an answer.
 */
export function call(origin: string, route: string, options: CallOptions = {}): Promise<Answer> {
  const [method, path] = route.split(' ') as [string, string]
  const body = options.body === undefined || typeof options.body === 'string' ? options.body : JSON.stringify(options.body)
  const timeoutMs = options.timeoutMs ?? 20_000
  return new Promise((resolve, reject) => {
    const req = request(origin + path, { method, agent: options.agent ?? keepAlive, headers: headersOf(options, body) })
    const timer = setTimeout(() => req.destroy(Object.assign(new Error(), { code: `NOTHING_IN_${timeoutMs}_MS` })), timeoutMs)
    const fail = (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(new NoAnswer(error.code ?? error.message, req.reusedSocket))
    }
    req.once('error', fail)
    req.once('response', (res) => {
      const chunks: Buffer[] = []
      const answer = () => {
        clearTimeout(timer)
        resolve(toAnswer(res.statusCode ?? 0, res.headers, Buffer.concat(chunks).toString()))
      }
      if (res.headers['content-type'] === 'text/event-stream') {
        // It has no end: its head is the answer.
        res.once('error', () => undefined).destroy()
        return answer()
      }
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.once('error', fail)
      res.once('end', answer)
    })
    req.end(body)
  })
}

function headersOf(
  { key, token, operator, idempotencyKey, headers }: CallOptions,
  body: string | undefined,
): Record<string, string> {
  return {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(token === undefined ? {} : { 'x-collection-token': token }),
    ...(operator ? { 'x-admin-token': adminToken } : {}),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
}

function toAnswer(status: number, headers: IncomingHttpHeaders, text: string): Answer {
  const json = headers['content-type']?.startsWith('application/json') ? parse(text) : {}
  return { status, headers, text, data: json.data ?? ({} as AnswerData), code: json.error?.code }
}

function parse(text: string): { data?: AnswerData; error?: { code: string } } {
  return JSON.parse(text) as { data?: AnswerData; error?: { code: string } }
}

/** Asks again while the answer is 503, as a client does: on a busy machine, a request may exceed its time limit. */
export async function callUntilServed(origin: string, route: string, options: CallOptions): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await call(origin, route, options)
    if (answer.code !== 'unavailable' || tries === 5) return answer
    await delay(1_000 * Number(answer.headers['retry-after']))
  }
}

/** Asks for what must go well. */
export async function askGood(origin: string, route: string, options: CallOptions): Promise<Answer> {
  const answer = await callUntilServed(origin, route, options)
  assert.ok(answer.status < 300, `${route}: ${answer.status} ${answer.text}`)
  return answer
}

/** Waits until a key is refused: its end reaches each process within 15 s. */
export async function untilKeyEnded(origin: string, key: string): Promise<void> {
  const deadline = Date.now() + 16_000
  while ((await call(origin, 'GET /v1/tenant', { key })).code !== 'unauthorized')
    assert.ok(Date.now() < deadline, 'its end reaches each process within 15 s')
}

export interface TestTenant {
  id: string
  secret: string
  publishable: string
}

export async function makeTenant(origin: string, name = 'Test'): Promise<TestTenant> {
  const { data, status, text } = await call(origin, 'POST /v1/tenants', { operator: true, body: { name } })
  if (status !== 201) throw new Error(`no tenant: ${status} ${text}`)
  return { id: data.tenant.id, secret: data.secret_key, publishable: data.publishable_key }
}

export interface TestCollection {
  id: string
  /** Of the owner. */
  token: string
}

export async function makeCollection(origin: string, key: string, body: object = {}): Promise<TestCollection> {
  const { data, status, text } = await call(origin, 'POST /v1/collections', { key, body })
  if (status !== 201) throw new Error(`no collection: ${status} ${text}`)
  return { id: data.id, token: data.admin_token }
}

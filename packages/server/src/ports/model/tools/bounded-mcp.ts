import { readAtMost } from '@atrium/contract/joined-pieces'
import { isJsonObject } from '@atrium/contract/strict-json'
import { EgressError } from '#ports/egress/egress-error.ts'
import { firstBytes } from '../answer/bounded-answers.ts'
import { EventSplitter } from '../answer/event-splitter.ts'
import { takeTurn } from '../answer/event-turns.ts'
import { fitsShape } from '../answer/json-shape.ts'

type Fetch = typeof globalThis.fetch

const limits = {
  /** The limit for a list of tools is larger than for the result of one tool. */
  messageBytes: 512 * 1024,
  messages: 256,
  shape: { nodes: 32_768, depth: 64 },
  /**
   * The largest number of entries in a list of tools, or of parts in a result: a library checks each against several
   * schemas.
   */
  list: 256,
  /** The number of requests that a server may send while it answers one. Normal servers send at most pings. */
  requests: 4,
  errorBytes: 16 * 1024,
} as const

/**
 * A fetch for an MCP client. It limits responses, so that they cannot block this process, and limits how many
 * requests a server can cause: the library answers every request of the server, and a server could send requests in
 * response to these answers.
 */
export function boundedMcp(fetch: Fetch): Fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    if (!answer.body) return answer
    if (!isRequest(init?.body)) {
      await answer.body.cancel().catch(() => undefined)
      return new Response(null, { status: answer.ok ? 202 : answer.status, headers: answer.headers })
    }
    const { status, statusText, headers } = answer
    const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
    const body = !answer.ok
      ? firstBytes(answer.body, limits.errorBytes)
      : isStream
        ? boundedStream(answer.body)
        : await boundedMessages(answer.body)
    return new Response(body, { status, statusText, headers })
  }
}

/** Whether the message expects an answer. A notification and an answer of this client do not. */
function isRequest(body: unknown): boolean {
  if (typeof body !== 'string') return false
  const message: unknown = JSON.parse(body)
  return isJsonObject(message) && 'method' in message && 'id' in message
}

/** A JSON answer: one message, or a list of messages. */
async function boundedMessages(answer: ReadableStream<Uint8Array>): Promise<Buffer> {
  const whole = await readAtMost(answer, limits.messageBytes)
  if (whole === undefined) throw beyond('too many bytes')
  await takeTurn()
  const message = parse(whole)
  if (!Array.isArray(message)) return whole
  if (message.length > limits.list) throw beyond('too many messages')
  return Buffer.from(JSON.stringify(message.filter(allowed())))
}

function boundedStream(answer: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = answer.getReader()
  const splitter = new EventSplitter(limits.messageBytes)
  const isAllowed = allowed()
  let pending: Iterator<Buffer> = [][Symbol.iterator]()
  let messages = 0

  const nextMessage = async (): Promise<Buffer | undefined> => {
    for (;;) {
      const { done, value: data } = pending.next()
      await takeTurn()
      if (!done) {
        if (++messages > limits.messages) throw beyond('too many messages')
        if (data.length > 0 && isAllowed(parse(data))) return data
        continue
      }
      const read = await reader.read()
      if (read.done) return undefined
      pending = splitter.take(read.value)
    }
  }

  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const data = await nextMessage()
      if (data) controller.enqueue(Buffer.concat([Buffer.from('data: '), data, Buffer.from('\n\n')]))
      else controller.close()
    } catch (error) {
      controller.error(error)
      await reader.cancel().catch(() => undefined)
    }
  }
  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 })
}

/** Passes on answers, and the first few requests of the server. */
function allowed(): (message: unknown) => boolean {
  let requests = 0
  return (message) => {
    if (typeof message !== 'object' || message === null) return true
    // Notifications, such as progress and log messages, are dropped.
    if ('method' in message) return 'id' in message && ++requests <= limits.requests
    return true
  }
}

function parse(bytes: Buffer): unknown {
  if (!fitsShape(bytes, limits.shape)) throw beyond('too many parts')
  try {
    const message: unknown = JSON.parse(bytes.toString())
    for (const one of [message].flat()) assertShortLists(one)
    return message
  } catch (error) {
    throw error instanceof EgressError ? error : beyond('something that is not JSON')
  }
}

function assertShortLists(message: unknown): void {
  if (!isJsonObject(message)) return
  const { result, error } = message
  for (const holder of [result, error]) {
    if (typeof holder !== 'object' || holder === null) continue
    for (const list of Object.values(holder))
      if (Array.isArray(list) && list.length > limits.list) throw beyond('a list that is too long')
  }
}

function beyond(what: string): EgressError {
  return new EgressError('protocol', `The answer has ${what}.`)
}

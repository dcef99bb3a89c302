import type { StreamBody } from '@atrium/contract/streams'
import { delayMs, isTransient, wait, type Wait } from '@atrium/room-client/retry'
import { makeError } from './error-of-answer.ts'
import { textOf } from './text-of.ts'

/** A message with its cursor. `event` determines the shape of `data`. */
export type StreamMessage<Message> = Message & {
  /** Pass it as `lastEventId` to continue after this message. */
  id: string
}

export interface FollowStreamOptions {
  /** `id` of the last message that you handled. Absent: the stream starts now. */
  lastEventId?: string | undefined
  /** Ends the iteration without an error. */
  signal?: AbortSignal | undefined
  /** Replaces the wait before a new connection, for tests. */
  wait?: Wait | undefined
}

type StreamCall<Input, Message> = (input: Input) => Promise<{ data: StreamBody<Message> }>

/** The largest item has 64 KiB of content, and JSON text is at most six times as long. */
const maxMessageLength = 1_000_000

/**
 * Iterates over the messages of an event stream, and connects again whenever the connection ends, after the last message
 * that was received. The message `reset` reports that the cursor has expired: read the state again.
 *
 * Waits between attempts with a growing random delay, and for Retry-After. Throws the error of a connection that cannot
 * succeed, such as NotFoundError, and UnexpectedAnswerError for a message of more than 1,000,000 characters.
 *
 * @param call An operation whose answer is a stream: `streamEvents`, `streamCollection` or `streamWall` of a client.
 * @example
 * for await (const { event, data, id } of followStream(client.streamCollection, { id: collectionId })) {
 *   if (event === 'item') show(data)
 *   lastEventId = id
 * }
 */
export async function* followStream<Input extends { headers?: object | undefined }, Message>(
  call: StreamCall<Input, Message>,
  { lastEventId, signal, wait: waitFor = wait, ...input }: Omit<Input, 'signal'> & FollowStreamOptions,
): AsyncGenerator<StreamMessage<Message>, void, undefined> {
  let cursor = lastEventId
  for (let failures = 0; !signal?.aborted; failures++) {
    let retryAfterSeconds: number | undefined
    try {
      const headers = { ...(input as Input).headers, ...(cursor === undefined ? {} : { 'last-event-id': cursor }) }
      const { data } = await call({ ...input, headers, signal } as unknown as Input)
      for await (const block of blocksOf(data, signal)) {
        failures = 0
        const { id, event, data: text } = fieldsOf(block)
        cursor = id ?? cursor
        if (event !== undefined && text !== undefined && id !== undefined)
          yield { id, event, data: JSON.parse(text) as unknown } as unknown as StreamMessage<Message>
        if (signal?.aborted) return
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!isTransient(error)) throw error
      retryAfterSeconds = error.retryAfterSeconds
    }
    await waitFor(delayMs(failures, retryAfterSeconds), signal).catch(() => undefined)
  }
}

/** The blocks of a stream, without the empty line between them. Ends when the connection does. */
async function* blocksOf(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<string> {
  let text = ''
  for await (const part of textOf(body, signal)) {
    text += part.replaceAll('\r', '')
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    if (text.length > maxMessageLength)
      throw makeError({ status: 200, code: 'unexpected_answer', message: 'A message of the stream is too long' })
    for (const block of blocks) if (block !== '') yield block
  }
}

function fieldsOf(block: string): { id?: string; event?: string; data?: string } {
  const fields: Record<string, string> = {}
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, '')
  }
  return fields
}

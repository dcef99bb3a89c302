import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'

interface StreamMessage {
  id: string
  event: string
  // What a test looks into is its own business.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any
}

export interface OpenStream {
  status: number
  headers: IncomingHttpHeaders
  /** The body of an answer that is not a stream. */
  text: string
  /** All messages so far. */
  messages: StreamMessage[]
  /** The newest id, also of a block without data. */
  lastId: string | undefined
  /** Blocks without an event. */
  beats: number
  /** Waits until there are this many messages in total, and returns the last one. */
  untilCount(count: number, timeoutMs?: number): Promise<StreamMessage>
  /** Resolves when the server closes the connection, to the time that it took. */
  ended: Promise<void>
  pause(): void
  resume(): void
  close(): void
}

interface OpenStreamOptions {
  key?: string
  collectionToken?: string
  lastEventId?: string | undefined
  /** The client's IP address according to a proxy. */
  forwardedFor?: string
  headers?: Record<string, string>
}

/** Opens a stream on a connection of its own. */
export function openStream(baseUrl: string, path: string, options: OpenStreamOptions = {}): Promise<OpenStream> {
  const { key, collectionToken, lastEventId, forwardedFor } = options
  const headers = {
    ...options.headers,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(collectionToken === undefined ? {} : { 'x-collection-token': collectionToken }),
    ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  }
  return new Promise((resolve, reject) => {
    const req = request(baseUrl + path, { agent: false, headers })
    req.on('error', reject)
    req.on('response', (res) => resolve(read(res)))
    req.end()
  })
}

async function read(res: IncomingMessage): Promise<OpenStream> {
  const ended = Promise.withResolvers<void>()
  const waiting = new Set<() => void>()
  const stream: OpenStream = {
    status: res.statusCode ?? 0,
    headers: res.headers,
    text: '',
    messages: [],
    lastId: undefined,
    beats: 0,
    untilCount: (count, timeoutMs = 10_000) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (stream.messages.length < count) return
          waiting.delete(look)
          clearTimeout(timer)
          resolve(stream.messages[count - 1]!)
        }
        const timer = setTimeout(
          () => reject(new Error(`${stream.messages.length} of ${count} messages: ${JSON.stringify(stream.messages)}`)),
          timeoutMs,
        )
        waiting.add(look)
        look()
      }),
    ended: ended.promise,
    pause: () => void res.pause(),
    resume: () => void res.resume(),
    close: () => void res.destroy(),
  }
  res.on('error', () => undefined)
  res.on('close', () => ended.resolve())
  if (res.headers['content-type'] !== 'text/event-stream') {
    for await (const chunk of res) stream.text += String(chunk)
    return stream
  }
  let text = ''
  res.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) note(stream, block)
    for (const look of waiting) look()
  })
  return stream
}

function note(stream: OpenStream, block: string): void {
  const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
  const id = fields.get('id')
  stream.lastId = id ?? stream.lastId
  const event = fields.get('event')
  if (event === undefined) stream.beats++
  else stream.messages.push({ id: id!, event, data: JSON.parse(fields.get('data')!) })
}

import { followStream, type StreamMessage } from '@atrium/client/follow-stream'
import { send } from '@atrium/client/send'
import type { ControlMessage, OpenItemMessage } from '@atrium/contract/streams'

export interface WallWatch {
  onItem: (data: unknown) => void
  onRemoved: (id: string) => void
  /** The cursor has expired, so the page may have missed changes. */
  onReset: () => void
  onConnection: (state: 'live' | 'connecting') => void
  /** The state of the collection. The stream ends when it changes, and is opened again. */
  onState: (state: string) => void
  /** The wall no longer exists, or its stream does not accept the page's cursor. */
  onGone: () => void
}

const requestTimeoutMs = 20_000
/** How long the stream of a hidden tab stays open. Browsers open only a few connections to a host. */
const hiddenMs = 15_000
const againMs = 15_000

/** Follows the stream of a wall while the page is visible. */
export function followWall(address: string, cursor: string, watch: WallWatch): void {
  const { onConnection } = watch
  let lastEventId = cursor
  let open: AbortController | undefined
  let hiding: number | undefined

  const call = async ({ headers, signal }: { headers?: Record<string, string>; signal?: AbortSignal }) => {
    onConnection('connecting')
    const request = { url: new URL(address, location.href).href, method: 'GET', headers: headers ?? {} }
    const { stream, res } = await send(request, { fetch, timeoutMs: requestTimeoutMs }, signal)
    if (!stream) throw new Error('the answer is no stream')
    onConnection('live')
    // A server of the previous release does not send it.
    const state = res.headers.get('collection-state')
    if (state !== null) watch.onState(state)
    return { data: stream as typeof stream & { readonly message?: Message } }
  }

  const take = ({ id, event, data }: StreamMessage<Message>) => {
    lastEventId = id
    if (event === 'item') watch.onItem(data)
    else if (event === 'removed') watch.onRemoved(data.id)
    else if (event === 'reset') watch.onReset()
  }

  const start = async () => {
    const here = (open = new AbortController())
    try {
      for await (const message of followStream(call, { lastEventId, signal: here.signal })) take(message)
    } catch (error) {
      onConnection('connecting')
      const status = error instanceof Error && 'status' in error ? error.status : undefined
      if (status === 404 || status === 400) return watch.onGone()
      open = undefined
      setTimeout(resume, againMs * (1 + Math.random()))
    }
  }
  const resume = () => {
    if (!document.hidden && !open) void start()
  }
  const pause = () => {
    open?.abort()
    open = undefined
    onConnection('connecting')
  }
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = window.setTimeout(pause, hiddenMs)
    else resume()
  })
  resume()
}

type Message = OpenItemMessage | ControlMessage

import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** How a connection ended over which a request arrived drop by drop. */
export interface Dribble {
  /** When the server ended it, measured from its start; undefined: it did not within the observed time. */
  endedAfterMs: number | undefined
  /** All that came back. */
  text: string
}

export interface DribbleOptions {
  /** Sent at once. */
  first?: string
  /** Sent over and over, one at a time. */
  drop?: string
  intervalMs?: number
  /** Sent after `lastAfterMs`, and nothing more. */
  last?: string
  lastAfterMs?: number
  /** When to stop looking. */
  untilMs: number
}

/** Opens a connection and sends slowly on it, until the server ends it or the time is over. */
export function dribble(origin: string, options: DribbleOptions): Promise<Dribble> {
  const { first = '', drop = '', intervalMs = 1_000, last, lastAfterMs = Infinity, untilMs } = options
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(origin).port), host: 'localhost' })
    let startedAt = performance.now()
    let text = ''
    let endedAfterMs: number | undefined
    const end = () => (endedAfterMs ??= performance.now() - startedAt)
    // A reset is an end as any other.
    socket.on('error', end)
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('end', end)
    socket.once('close', () => {
      end()
      resolve({ endedAfterMs, text })
    })
    socket.once('connect', async () => {
      startedAt = performance.now()
      if (first) socket.write(first)
      const sent = () => performance.now() - startedAt
      // Spread over the interval, so that the drops do not arrive at the same time.
      await delay(Math.random() * intervalMs)
      while (!socket.destroyed && endedAfterMs === undefined && sent() < Math.min(untilMs, lastAfterMs)) {
        if (drop) socket.write(drop)
        await delay(Math.min(intervalMs, Math.max(0, lastAfterMs - sent())))
      }
      if (last !== undefined && endedAfterMs === undefined) socket.write(last)
      while (endedAfterMs === undefined && sent() < untilMs) await delay(50)
      if (endedAfterMs !== undefined) return socket.destroy()
      resolve({ endedAfterMs: undefined, text })
      socket.destroy()
    })
  })
}

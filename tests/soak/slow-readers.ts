import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { requestText } from '../support/raw-http.ts'

export interface SlowReaders {
  /** How many are connected now, and how often the server disconnected one. */
  state(): { open: number; cut: number }
  stop(): void
}

const readIntervalMs = 5_000

/**
 * Opens this many connections, each of which requests a large answer and reads little of it. A disconnected one
 * reconnects.
 */
export function startSlowReaders(count: number, targets: { port: number; requests: string[] }[]): SlowReaders {
  let stopped = false
  let open = 0
  let cut = 0
  const run = async (n: number) => {
    // Not all at once, because the backlog of a socket is short.
    await delay(n * 5)
    while (!stopped) {
      const { port, requests } = targets[n % targets.length]!
      const socket = connect({ port, host: 'localhost' })
      socket.on('error', () => {})
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.once('connect', () => {
        open++
        socket.write(requests[Math.floor(Math.random() * requests.length)]!)
        socket.pause()
        socket.on('data', () => socket.pause())
        // One chunk at times: a socket that reads nothing never notices that the other end has closed it.
        const timer = setInterval(() => (stopped ? socket.destroy() : socket.resume()), readIntervalMs)
        socket.once('close', () => {
          clearInterval(timer)
          open--
          cut++
        })
      })
      await closed
      await delay(1_000 + Math.random() * 4_000)
    }
  }
  void Promise.all(Array.from({ length: count }, (_, n) => run(n)))
  return { state: () => ({ open, cut }), stop: () => (stopped = true) }
}

export function sealedRequest(room: string): string {
  const body = JSON.stringify({ op: 'sealed', room })
  return `${requestText('POST /space', ['Content-Type: application/json', `Content-Length: ${body.length}`])}${body}`
}

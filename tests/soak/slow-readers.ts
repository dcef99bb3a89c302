import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { requestText } from '../support/raw-http.ts'

export interface SlowReaders {
  /** How many are connected now, and how often one was cut off by the server. */
  state(): { open: number; cut: number }
  stop(): void
}

const readEveryMs = 5_000

/**
 * So many connections, each of which asks for something large and reads little of it. One that is cut off comes back.
 */
export function startSlowReaders(count: number, targets: { port: number; requests: string[] }[]): SlowReaders {
  let stopped = false
  let open = 0
  let cut = 0
  const run = async (n: number) => {
    // Not all at once: the backlog of a socket is short.
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
        // One chunk now and then: a socket that reads nothing never learns that the other end has closed it.
        const timer = setInterval(() => (stopped ? socket.destroy() : socket.resume()), readEveryMs)
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

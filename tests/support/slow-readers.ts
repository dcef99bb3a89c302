import { connect, type Socket } from 'node:net'

/** Connections that send a request, read the beginning of the answer, and then stop reading. */
export interface SlowReaders {
  /** The status that each received; undefined: none yet. */
  statuses(): (number | undefined)[]
  /** How many the server ended. */
  ended(): number
  /** Continues to read, so that the disconnected ones notice it. */
  resume(): void
  close(): void
}

/** Sends each request on a separate connection, and waits until each has an answer or was disconnected. */
export async function openSlowReaders(origin: string, requests: string[]): Promise<SlowReaders> {
  const { port, hostname } = new URL(origin)
  const statuses: (number | undefined)[] = requests.map(() => undefined)
  let ended = 0
  const sockets: Socket[] = []
  await Promise.all(
    requests.map(
      (text, i) =>
        new Promise<void>((resolve) => {
          const socket = connect({ port: Number(port), host: hostname })
          sockets.push(socket)
          socket.once('data', (chunk) => {
            statuses[i] = Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1'))?.[1])
            socket.pause()
            resolve()
          })
          socket.on('error', () => undefined)
          socket.once('close', () => {
            ended++
            resolve()
          })
          socket.write(text)
        }),
    ),
  )
  return {
    statuses: () => statuses,
    ended: () => ended,
    resume: () => sockets.forEach((socket) => socket.resume()),
    close: () => sockets.forEach((socket) => socket.destroy()),
  }
}

export function countOf(values: unknown[], wanted: unknown): number {
  return values.filter((value) => value === wanted).length
}

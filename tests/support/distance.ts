import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Distance {
  /** The port of this proxy, which from now on leads to that port of this machine. */
  portTo(port: number): number
  close(): void
}

/** A proxy on loopback that hands on what the server sends after `ms`, as a network of that length would. */
export async function startDistance(ms: number): Promise<Distance> {
  const sockets = new Set<Socket>()
  let target = 0
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one.setNoDelay(true))
      one
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
    }
    client.pipe(upstream)
    // Timers of one length run in the order in which they were set.
    upstream.on('data', (bytes) => void setTimeout(() => client.write(bytes), ms))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    portTo: (port) => {
      target = port
      return (server.address() as AddressInfo).port
    },
    close: () => {
      server.close()
      sockets.forEach((socket) => socket.destroy())
    },
  }
}

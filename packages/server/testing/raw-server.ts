import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export interface RawServer {
  port: number
  /** Connections accepted so far. */
  accepted(): number
  untilAccepted(count: number): Promise<void>
  /** Connections still open. */
  open(): number
  untilOpen(count: number): Promise<void>
  dropConnections(): void
  /** What all connections have sent together. */
  received(): string
  close(): Promise<void>
}

/** A plain TCP server that counts every connection and sends what a test specifies, well-formed or not. */
export async function startRawServer(
  onConnection: (socket: Socket) => void = () => undefined,
  { host, port = 0 }: { host?: string; port?: number } = {},
): Promise<RawServer> {
  let accepted = 0
  let received = ''
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    accepted++
    sockets.add(socket)
    socket.on('data', (chunk) => (received += chunk.toString('latin1')))
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  await listen(server, port, host)
  const dropConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    untilAccepted: (count) => until(() => accepted >= count),
    open: () => sockets.size,
    untilOpen: (count) => until(() => sockets.size === count),
    dropConnections,
    received: () => received,
    close: async () => {
      dropConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers every request head with the same bytes. */
export function answering(answer: string): (socket: Socket) => void {
  return (socket) =>
    socket.on('data', (chunk) => {
      if (chunk.includes('\r\n\r\n')) socket.write(answer)
    })
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('it did not come to that within 10 s')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

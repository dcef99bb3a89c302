import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { after } from 'node:test'
import { Connection, type ConnectionOptions } from '../connection.ts'

export const serverUrl = process.env['ATRIUM_TEST_DATABASE_URL']!

const opened: Connection[] = []

export async function open(options: Partial<ConnectionOptions> = {}): Promise<Connection> {
  const connection = await Connection.open({ url: serverUrl, connectMs: 5_000, answerMs: 5_000, ...options })
  opened.push(connection)
  return connection
}

after(() => Promise.all(opened.map((connection) => connection.end())))

/** A server of the test's own: `serve` gets each socket. The URL names the user `tester` with the password `pencil`. */
export async function startServer(serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    serve(socket)
  })
  // Also on 127.0.0.2, which no certificate names.
  await once(server.listen(0, '0.0.0.0'), 'listening')
  after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `postgresql://tester:pencil@127.0.0.1:${(server.address() as AddressInfo).port}/tester`
}

/** A socket to the test run's PostgreSQL. */
export function connectUpstream(): Socket {
  return connect(`${new URL(serverUrl).searchParams.get('host')}/.s.PGSQL.5432`)
}

/** How to log in to that PostgreSQL through a server of the test's own. */
export function urlOfProxy(url: string, parameters = ''): string {
  const { username } = new URL(serverUrl)
  return `${url.replace('tester:pencil', username).replace(/tester$/, 'postgres')}${parameters && `?${parameters}`}`
}

/** A message of the protocol: its type, its length and its content. */
export function message(type: string, ...parts: (string | Buffer | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part !== 'number') return Buffer.from(part)
      const bytes = Buffer.alloc(4)
      bytes.writeInt32BE(part)
      return bytes
    }),
  )
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const ready = message('Z', 'I')
export const admitted = Buffer.concat([message('R', 0), ready])

/** Admits whoever comes, takes the settings of the session and answers each query with `bytes`. */
export function answeringEach(bytes: Buffer): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.write(admitted)
      socket.on('data', (query) => socket.write(query.includes('set timezone') ? ready : bytes))
    })
  }
}

/** Admits whoever comes, and answers the first query with `bytes`. */
export function answering(bytes: Buffer, end = false): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.write(admitted)
      socket.once('data', () => (end ? socket.end(bytes) : socket.write(bytes)))
    })
  }
}

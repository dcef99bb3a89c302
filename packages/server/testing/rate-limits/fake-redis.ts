import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** What a fake Redis does with a command. */
export type Behaviour = (socket: Socket, command: string) => void

export interface FakeRedis {
  url: string
  behave(behaviour: Behaviour): void
  connections(): number
  /** Connections that came, in all. */
  accepted(): number
  close(): void
}

/** Says OK to what begins a connection, and treats each EVAL as told. */
export async function startFakeRedis(initial: Behaviour): Promise<FakeRedis> {
  let behaviour = initial
  let accepted = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    accepted++
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      for (let taken = takeCommand(text); taken; taken = takeCommand(text)) {
        text = text.slice(taken.length)
        if (taken.name === 'EVAL') behaviour(socket, taken.name)
        else socket.write(taken.name === 'HELLO' ? '%1\r\n$5\r\nproto\r\n:3\r\n' : '+OK\r\n')
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behave: (next) => (behaviour = next),
    connections: () => sockets.size,
    accepted: () => accepted,
    close: () => {
      server.close()
      sockets.forEach((socket) => socket.destroy())
    },
  }
}

/** A whole command of RESP, if there is one: `*2\r\n$4\r\nEVAL\r\n…`. */
function takeCommand(text: string): { name: string; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (!head) return undefined
  let at = head[0].length
  let name = ''
  for (let i = 0; i < Number(head[1]); i++) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 20))
    if (!size) return undefined
    const from = at + size[0].length
    const to = from + Number(size[1])
    if (text.length < to + 2) return undefined
    if (i === 0) name = text.slice(from, to).toUpperCase()
    at = to + 2
  }
  return { name, length: at }
}

/** As the script answers where there is room. */
export const allow: Behaviour = (socket) => void socket.write('*4\r\n:1\r\n:1\r\n:5\r\n$2\r\n10\r\n')

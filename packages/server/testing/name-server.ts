import { createSocket } from 'node:dgram'
import ipaddr from 'ipaddr.js'

interface NameServer {
  /** For Resolver.setServers. */
  address: string
  asked: string[]
  close(): Promise<void>
}

const typeA = 1
const typeAaaa = 28

/** A real DNS server on loopback. Its answer for a name is computed at each query. */
export async function startNameServer(answer: (name: string) => string[]): Promise<NameServer> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query)
    asked.push(name)
    const records = answer(name)
      .map((address) => ipaddr.parse(address))
      .filter((address) => type === (address.kind() === 'ipv4' ? typeA : typeAaaa))
      .map((address) => Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, type === typeA ? 4 : 16, ...address.toByteArray()]))
    const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0])
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

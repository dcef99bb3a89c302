import assert from 'node:assert/strict'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Agent } from 'node:http'
import { call, NoAnswer, type CallOptions } from './call-api.ts'

export interface AnswerSwallower {
  /** Sends the request and cuts the connection when the server has answered, before the caller reads a byte of it. */
  lose(route: string, options: CallOptions): Promise<void>
  close(): void
}

/** Stands before the server and lets every request through and no answer: what is answered was committed, and the caller knows nothing of it. */
export async function startAnswerSwallower(origin: string): Promise<AnswerSwallower> {
  const { hostname, port } = new URL(origin)
  let status = ''
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.pipe(upstream)
    upstream.once('data', (bytes: Buffer) => {
      status = bytes.toString('latin1', 0, 12)
      client.destroy()
      upstream.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    lose: async (route, options) => {
      status = ''
      await assert.rejects(call(through, route, { ...options, agent: new Agent() }), NoAnswer)
      assert.match(status, /^HTTP\/1\.1 2/, `${route} did what it was asked for: ${status}`)
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

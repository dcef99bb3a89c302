import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { call, NoAnswer, type CallOptions } from './call-api.ts'

/**
 * Sends a request that takes effect and whose answer is lost. A proxy lets the request pass, and cuts the connection
 * at the first byte of the answer, when everything has been committed.
 */
export async function loseAnswer(origin: string, route: string, options: CallOptions): Promise<void> {
  const { hostname, port } = new URL(origin)
  const sockets: Socket[] = []
  let status = ''
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    sockets.push(client, upstream)
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    client.pipe(upstream)
    upstream.once('data', (bytes: Buffer) => {
      status = bytes.toString('latin1', 0, 12)
      client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const through = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await assert.rejects(call(through, route, { ...options, agent: new Agent() }), NoAnswer)
    assert.match(status, /^HTTP\/1\.1 2/, `${route} did what it was asked for`)
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

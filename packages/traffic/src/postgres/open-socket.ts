import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ConnectionLost } from '../database-errors.ts'
import { ClientMessages } from './client-messages.ts'
import type { DatabaseAddress } from './database-address.ts'

const ignore = () => undefined

/**
 * Opens the socket and encrypts it if the address requires that. Rejects with the reason of `signal` if it is
 * aborted.
 */
export async function openSocket(address: DatabaseAddress, signal: AbortSignal): Promise<Socket> {
  const { host, port, tls } = address
  // Keeps a gateway from dropping a connection that is silent during a long statement.
  const tcp = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : tcp)
  const closed = new AbortController()
  // An error between two of the events below would have no listener, and would end the process.
  socket.on('error', ignore)
  socket.once('close', () => closed.abort(new ConnectionLost('the server closed the connection before it was ready')))
  const ended = AbortSignal.any([signal, closed.signal])
  try {
    await once(socket, 'connect', { signal: ended })
    return tls ? await encrypt(socket, address, ended) : socket
  } catch (error) {
    socket.destroy()
    throw ended.aborted && (error as Error).name === 'AbortError' ? ended.reason : error
  }
}

async function encrypt(socket: Socket, { host, tls, isTlsDirect }: DatabaseAddress, signal: AbortSignal): Promise<Socket> {
  if (!isTlsDirect) {
    socket.write(new ClientMessages().requestTls().bytes)
    const [answer] = (await once(socket, 'data', { signal })) as [Buffer]
    // More than one byte would be plain text that was injected before the handshake (CVE-2021-23222).
    if (answer.toString('latin1') !== 'S') throw new Error('the database server does not support TLS')
  }
  const secure = connectTls({
    ...tls,
    socket,
    host,
    // RFC 6066: an IP address is not a server name.
    ...(isIP(host) ? {} : { servername: host }),
    ...(isTlsDirect ? { ALPNProtocols: ['postgresql'] } : {}),
  })
  secure.on('error', ignore)
  await once(secure, 'secureConnect', { signal })
  // Otherwise a server of another protocol with a certificate for this name could be made to answer (ALPACA). libpq
  // rejects it too.
  if (isTlsDirect && secure.alpnProtocol !== 'postgresql')
    throw new Error('sslnegotiation=direct: the server does not speak ALPN')
  return secure
}

import { TLSSocket, createSecureContext } from 'node:tls'
import { certificateKey } from '../../../../server/testing/loopback-certificates.ts'
import { connectUpstream, startServer } from './fake-server.ts'

/** What the server presents. It may be changed while the server runs: new connections get the new one. */
interface Presented {
  cert: string
}

/** PostgreSQL behind TLS: the server answers the request for it, encrypts and passes on. */
export function startTls(
  presented: Presented,
  { answer = 'S', isDirect = false, protocols = ['postgresql'] } = {},
): Promise<string> {
  return startServer((socket) => {
    const encrypt = () => {
      const secureContext = createSecureContext({ key: certificateKey, cert: presented.cert })
      const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: protocols })
      const upstream = connectUpstream()
      secure.on('error', () => undefined).on('close', () => upstream.destroy())
      upstream.on('error', () => undefined).on('close', () => secure.destroy())
      secure.pipe(upstream).pipe(secure)
    }
    if (isDirect) return encrypt()
    socket.once('data', () => {
      socket.write(answer)
      if (answer === 'S') encrypt()
    })
  })
}

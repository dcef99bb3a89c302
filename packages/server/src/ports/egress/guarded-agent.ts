import { toError } from '#errors/caught.ts'
import { isIP, type Socket } from 'node:net'
import { Agent, buildConnector, errors } from 'undici'
import { EgressError } from './egress-error.ts'
import { guardedLookup } from './guarded-lookup.ts'
import { assertHost, assertReachable, type EgressMode, type Route } from './host-rule.ts'
import type { ResolveName } from './resolve-name.ts'

export interface Guard {
  mode: EgressMode
  resolve: ResolveName
  /**
   * The largest number of bytes of one connection. Framing, such as chunk extensions, counts towards no other limit,
   * so a server could send it at full speed until the time limit of the exchange.
   */
  maxConnectionBytes: number
}

export const maxConnectionsPerOrigin = 64

const connectTimeoutMs = 10_000
const checkIntervalMs = 50

/** Opens connections only to public addresses, each checked when it is opened. Every exchange needs a deadline. */
export function openGuardedAgent(guard: Guard): Agent {
  return new Agent({
    connect: guardedConnector(guard),
    connections: maxConnectionsPerOrigin,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: 16_384,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    // Even a busy connection is closed after this time, so that a changed name is resolved and checked again.
    clientTtl: 60_000,
    // The deadline of the exchange covers everything. These two timers restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

function guardedConnector({ mode, resolve, maxConnectionBytes }: Guard): buildConnector.connector {
  const openPlain = tcpConnector(resolve, { mode, secure: false }, maxConnectionBytes)
  const openUnderTls = tcpConnector(resolve, { mode, secure: true }, maxConnectionBytes)
  // TLS sessions are not resumed, because resumption skips the check of the certificate. An environment variable
  // that disables that check has no effect here.
  const openTls = buildConnector({ allowH2: false, maxCachedSessions: 0, rejectUnauthorized: true, timeout: connectTimeoutMs })

  return ({ hostname, host, protocol, port }, callback) => {
    if (protocol !== 'https:') return openPlain({ hostname, protocol: 'http:', port: port || '80' }, callback)
    openUnderTls({ hostname, protocol: 'http:', port: port || '443' }, (error, socket) => {
      if (error) return callback(error, null)
      // The name for SNI comes from the URL and never from a Host header. An IP address has none.
      const servername = isIP(hostname) === 0 ? hostname : ''
      openTls({ hostname, ...(host ? { host } : {}), protocol, port, servername, httpSocket: socket }, (tlsError, tlsSocket) =>
        tlsError ? callback(asTlsError(tlsError), null) : callback(null, tlsSocket),
      )
    })
  }
}

/** TLS starts in a second step, so that the peer's address is checked before the first byte is sent. */
function tcpConnector(resolve: ResolveName, route: Route, maxBytes: number): buildConnector.connector {
  const options = { lookup: guardedLookup(resolve, route), autoSelectFamily: true, timeout: connectTimeoutMs }
  const open = buildConnector(options)
  return (target, callback) => {
    try {
      // net.connect calls lookup only for names, so IP addresses in URLs are checked here.
      assertHost(target.hostname, route)
    } catch (error) {
      return queueMicrotask(() => callback(toError(error), null))
    }
    open(target, (error, socket) => {
      if (error) return callback(asConnectError(error), null)
      try {
        assertReachable(socket.remoteAddress ?? '', route)
      } catch (refusal) {
        socket.destroy()
        return callback(toError(refusal), null)
      }
      watchBytes(socket, maxBytes)
      callback(null, socket)
    })
  }
}

function watchBytes(socket: Socket, maxBytes: number): void {
  const watch = setInterval(() => {
    if (socket.bytesRead > maxBytes) socket.destroy()
  }, checkIntervalMs).unref()
  socket.once('close', () => clearInterval(watch))
}

function asConnectError(error: Error): EgressError {
  if (error instanceof EgressError) return error
  if (error instanceof errors.ConnectTimeoutError) return timedOut(error)
  return new EgressError('connect', `The connection could not be made (${codeOf(error)}).`, { cause: error })
}

function asTlsError(error: Error): EgressError {
  if (error instanceof errors.ConnectTimeoutError) return timedOut(error)
  return new EgressError('tls', `The TLS connection could not be made (${codeOf(error)}).`, { cause: error })
}

function timedOut(cause: Error): EgressError {
  return new EgressError('timeout', 'The connection took too long.', { cause })
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? 'no code'
}

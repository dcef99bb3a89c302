import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { http } from '#ports/node-http.ts'
import { formatFamilies, type Collect } from '#http/metric-families.ts'
import { hasBearerToken, metricsContentType } from '#http/metrics-access.ts'
import { listenError } from '../assert-ports-free.ts'

interface MetricsServerOptions {
  host: string
  port: number
  /** Required as a Bearer token if set. */
  token: string | undefined
  collect: Collect
}

/** Serves `GET /metrics` on a port of its own, for Prometheus. */
export async function startMetricsServer({ host, port, token, collect }: MetricsServerOptions) {
  const server = http.createServer({ requestTimeout: 10_000, headersTimeout: 5_000, maxHeaderSize: 8_192 }, (req, res) => {
    const refusal = refuse(req, token)
    req.resume()
    if (refusal !== undefined) return void res.writeHead(refusal, { 'content-type': 'text/plain' }).end()
    collect()
      .then(formatFamilies)
      .then(
        (text) => res.writeHead(200, { 'content-type': metricsContentType, 'cache-control': 'no-store' }).end(text),
        () => res.writeHead(500).end(),
      )
  })
  server.maxConnections = 32
  await listen(server, host, port)
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function refuse({ method, url, headers }: IncomingMessage, token: string | undefined): number | undefined {
  if (url?.split('?', 1)[0] !== '/metrics') return 404
  if (method !== 'GET' && method !== 'HEAD') return 405
  return token === undefined || hasBearerToken(headers.authorization, token) ? undefined : 401
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, { name: 'ATRIUM_METRICS_PORT', host, port })))
    server.listen({ host, port }, () => resolve())
  })
}

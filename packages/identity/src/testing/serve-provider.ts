import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTestProvider, type TestProvider, type TestProviderOptions } from './provider.ts'

export interface ServedProvider {
  readonly provider: TestProvider
  /** The requested paths, in order. */
  readonly requests: string[]
  close(): void
}

/** For tests: a TestProvider behind a real HTTP server on loopback. */
export async function serveTestProvider(options: Omit<TestProviderOptions, 'issuer'> = {}): Promise<ServedProvider> {
  const requests: string[] = []
  const server = createServer((req, res) => {
    requests.push(req.url ?? '')
    provider.fetchJson(`${provider.issuer}${req.url}`).then(
      (body) => res.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
      () => res.writeHead(404).end(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = await createTestProvider({ ...options, issuer: `http://127.0.0.1:${port}` })
  return {
    provider,
    requests,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

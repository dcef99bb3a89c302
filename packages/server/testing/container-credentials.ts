import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface ContainerCredentials {
  /** For AWS_CONTAINER_CREDENTIALS_FULL_URI. */
  uri: string
  /** How often it was asked. */
  asked(): number
  answer(how: ContainerAnswer): void
  close(): void
}

/** Keys that expire in so many seconds, or no answer at all. */
type ContainerAnswer = { accessKeyId: string; secretAccessKey: string; secondsLeft: number } | 'nothing'

/** Stands in for the endpoint that gives a container the credentials of its role. It checks the authorization token. */
export async function startContainerCredentials(token: string): Promise<ContainerCredentials> {
  let asked = 0
  let how: ContainerAnswer = 'nothing'
  const server = createServer((req, res) => {
    asked++
    if (how === 'nothing') return
    if (req.headers.authorization !== token) return res.writeHead(401).end()
    res.setHeader('content-type', 'application/json')
    res.end(
      JSON.stringify({
        AccessKeyId: how.accessKeyId,
        SecretAccessKey: how.secretAccessKey,
        Token: 'session-token',
        Expiration: new Date(Date.now() + how.secondsLeft * 1_000).toISOString(),
      }),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/role`,
    asked: () => asked,
    answer: (next) => (how = next),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

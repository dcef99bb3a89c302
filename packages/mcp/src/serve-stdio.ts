import { createClient } from '@atrium/client/create-client'
import { isCredential } from '@atrium/contract/tokens'
import { serveStdio as serve, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Connection } from './connection.ts'
import { fetchDocs } from './fetch-docs.ts'
import { makeServer } from './make-server.ts'
import type { DocsSection } from './search-docs.ts'

interface StdioOptions {
  /** Origin of the API. */
  publicUrl: string
  key: string
  collectionToken: string | undefined
  coupon: string | undefined
  allowWrites: boolean
}

/** The largest message of the client in bytes: more than the API accepts in a body. */
const maxMessageBytes = 1024 * 1024
const timeoutMs = 30_000

/** Serves the client that started this process, until it closes stdin. Every tool is a call of the API over HTTP. */
export function serveStdio(options: StdioOptions): void {
  const { publicUrl, key, collectionToken, coupon, allowWrites } = options
  let docs: Promise<DocsSection[]> | undefined
  const connection: Connection = {
    client: createClient({ baseUrl: publicUrl, key, retries: 1, timeoutMs }),
    publicUrl,
    isSecretKey: isCredential('secretKey', key),
    allowWrites,
    collectionToken,
    coupon,
    kept: { collections: new Map(), sessions: new Map() },
    onFault: (error) => console.error(error),
    docs: () =>
      (docs ??= fetchDocs(publicUrl).catch((error: unknown) => {
        docs = undefined
        throw error
      })),
  }
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: maxMessageBytes })
  // stdout belongs to the protocol.
  serve(() => makeServer(connection), { transport, onerror: ({ message }) => console.error(`atrium: ${message}`) })
}

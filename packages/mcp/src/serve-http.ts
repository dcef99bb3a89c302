import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Connection } from './connection.ts'
import { makeServer } from './make-server.ts'
import type { Tool } from './tool.ts'

/**
 * Answers one message of the Streamable HTTP transport, without a session: each message has a server of its own.
 * `message` is the parsed body. The answer is complete once its body ends, because nothing is pushed to a client: a
 * subscription is refused. `tools` are those of `makeServer`.
 */
export function serveMessage(
  request: Request,
  message: unknown,
  connection: Connection,
  tools?: readonly Tool[],
): Promise<Response> {
  const handler = createMcpHandler(() => makeServer(connection, tools), { maxSubscriptions: 0, keepAliveMs: 0 })
  return handler.fetch(request, message === undefined ? {} : { parsedBody: message })
}

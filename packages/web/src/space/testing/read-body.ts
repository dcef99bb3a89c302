import type { IncomingMessage } from 'node:http'

export async function readBody(req: IncomingMessage): Promise<string> {
  let body = ''
  for await (const piece of req.setEncoding('utf8')) body += piece as string
  return body
}

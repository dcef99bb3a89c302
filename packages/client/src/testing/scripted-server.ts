import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AtriumError } from '../atrium-error.ts'

export interface ScriptedAnswer {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  /** Cuts the connection instead of answering. */
  cut?: boolean
  /** Never answers. */
  hang?: boolean
}

export interface SeenRequest {
  line: string
  headers: IncomingMessage['headers']
  body: string
}

/** A server that sends the scripted answers in order, and then an empty 500. */
export async function startScriptedServer() {
  const seen: SeenRequest[] = []
  const answers: ScriptedAnswer[] = []
  const server = createServer(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    seen.push({ line: `${req.method} ${req.url}`, headers: req.headers, body })
    const answer = answers.shift() ?? { status: 500 }
    if (answer.hang) return
    if (answer.cut) return req.socket.destroy()
    res.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
    res.end(typeof answer.body === 'string' ? answer.body : answer.body === undefined ? '' : JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    /** Replaces the script and clears the recorded requests. */
    script(...next: ScriptedAnswer[]) {
      seen.length = 0
      answers.splice(0, Infinity, ...next)
    },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export function errorAnswer(status: number, code: string, headers: Record<string, string> = {}): ScriptedAnswer {
  return { status, headers, body: { error: { code, message: `It is ${code}.`, request_id: 'req_1' } } }
}

export async function failureOf(call: Promise<unknown>): Promise<AtriumError> {
  const failure = await call.then(
    () => assert.fail('the call succeeded'),
    (reason: unknown) => reason,
  )
  assert.ok(failure instanceof AtriumError, String(failure))
  return failure
}

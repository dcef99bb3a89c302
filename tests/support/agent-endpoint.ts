import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

let listening: Promise<string> | undefined

/** The control token that the agent received, by session. */
const calls = new Map<string, PromiseWithResolvers<string>>()

/**
 * The endpoint of a remote agent on this machine, for which ATRIUM_EGRESS must be loopback. It accepts every call and
 * does nothing else, so a test controls the state of its sessions.
 */
export function agentEndpoint(): Promise<string> {
  listening ??= new Promise((resolve, reject) => {
    const server = createServer((req, res) => {
      void takeCall(req).finally(() => res.end())
    })
    // The tests' end is not held up by it.
    server.unref().once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  })
  return listening
}

/** The agent's own control token of the session, once it was called. */
export async function agentControlToken(sessionId: string): Promise<string> {
  const timeout = AbortSignal.timeout(15_000)
  const late = new Promise<never>((_, reject) => {
    timeout.addEventListener('abort', () => reject(new Error(`the agent was not called to ${sessionId}`)))
  })
  return Promise.race([callTo(sessionId).promise, late])
}

async function takeCall(req: IncomingMessage): Promise<void> {
  const body = JSON.parse((await req.toArray()).join('')) as { session_id: string; control_token?: string }
  if (body.control_token !== undefined) callTo(body.session_id).resolve(body.control_token)
}

function callTo(sessionId: string): PromiseWithResolvers<string> {
  const known = calls.get(sessionId) ?? Promise.withResolvers<string>()
  calls.set(sessionId, known)
  return known
}

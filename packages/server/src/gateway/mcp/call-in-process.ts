import type { FastifyInstance } from 'fastify'

/**
 * Returns a `fetch` that passes requests to the routes of this app without a socket. The limits count them for
 * `address`, the IP address of the caller.
 */
export function callInProcess(app: FastifyInstance, address: string): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { pathname, search } = new URL(String(input))
    const { statusCode, headers, rawPayload } = await app.inject({
      method: (init.method ?? 'GET') as 'GET',
      url: pathname + search,
      headers: init.headers as Record<string, string>,
      remoteAddress: address,
      ...(typeof init.body === 'string' ? { payload: init.body } : {}),
      ...(init.signal ? { signal: init.signal } : {}),
    })
    const answer = new Headers()
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) answer.set(name, String(value))
    const bodyless = statusCode === 204 || statusCode === 304
    return new Response(bodyless ? null : new Uint8Array(rawPayload), { status: statusCode, headers: answer })
  }
}

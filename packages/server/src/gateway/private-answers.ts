import type { Operation } from '@atrium/contract/operation'
import type { FastifyReply } from 'fastify'

/**
 * Sets Cache-Control on a GET that depends on a credential. Shared caches do not store requests with Authorization,
 * but they do not know the other credential headers: the answer for one owner must not be stored for all. An answer
 * that may be cached has its own header.
 */
export function markPrivate(op: Operation): (reply: FastifyReply) => void {
  const names = op.method === 'GET' ? credentialHeaders(op) : []
  const vary = names.join(', ')
  return (reply) => {
    if (vary) reply.header('vary', vary).header('cache-control', 'private, no-store')
  }
}

function credentialHeaders({ caller, capability, headers }: Operation): string[] {
  return [
    ...(caller === 'secret' || caller === 'publishable' ? ['Authorization', 'X-API-Key'] : []),
    ...(caller === 'control' ? ['Authorization'] : []),
    ...(caller === 'operator' ? ['X-Admin-Token'] : []),
    ...(capability ? ['X-Collection-Token'] : []),
    ...(headers && 'x-id-token' in headers.properties ? ['X-Id-Token', 'X-Spk'] : []),
  ]
}

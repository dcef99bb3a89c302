import type { Operation } from '@atrium/contract/operation'
import type { FastifyReply } from 'fastify'

/**
 * What a GET that depends on a credential tells caches. Shared caches keep nothing that was asked for with
 * Authorization, but they know none of the other headers: one owner's answer must not be kept for all. Where an answer
 * may be kept after all, its own header says so.
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

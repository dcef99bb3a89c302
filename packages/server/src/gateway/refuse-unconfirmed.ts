import type { IncomingHttpHeaders } from 'node:http'
import type { Operation } from '@atrium/contract/operation'
import { ApiError } from '#errors/api-error.ts'

/**
 * What is answered while a restore is not confirmed: calls of the operator with the bootstrap token, and reads
 * without a secret. After a restore, a key that was revoked since the snapshot is valid again, and so are replaced
 * tokens, spent codes and removed addresses. The database cannot distinguish these.
 */
export function isAnsweredUnconfirmed(op: Pick<Operation, 'caller'> & Partial<Operation>, headers: IncomingHttpHeaders): boolean {
  // The Space service checks this itself.
  if (op.caller === 'operator' || op.kind === 'forward') return true
  // The kind of the handler does not decide this: a redemption is of kind `read`, because it has its own
  // transaction.
  const isPublicRead = op.method === 'GET' && (op.caller === 'anyone' || op.caller === 'publishable')
  return isPublicRead && !showsSecret(headers)
}

function showsSecret(headers: IncomingHttpHeaders): boolean {
  if (headers['x-collection-token'] !== undefined || headers['x-id-token'] !== undefined) return true
  return [headers.authorization, headers['x-api-key']].some((value) => String(value ?? '').includes('wsk_'))
}

export function unconfirmedError(): ApiError {
  return new ApiError('unavailable', {
    message:
      'This installation was restored from a backup, and its operator has not confirmed that yet. Until then it answers public reads only. Try again later.',
    reason: 'restore_unconfirmed',
    retryAfterSeconds: 60,
  })
}

import type { ErrorCode } from './errors.ts'
import { takesConsoleSessions, type Operation } from './operation.ts'

/** Every error code that an operation may return: those implied by its declaration, and those that it lists itself. */
export function errorCodesOf(op: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    'invalid_request',
    'rate_limited',
    'internal_error',
    'unavailable',
    'request_timeout',
    'headers_too_large',
  ])
  if (op.caller !== 'anyone') codes.add('unauthorized')
  if (op.caller === 'secret' || op.caller === 'publishable') {
    codes.add('tenant_suspended').add('secret_key_in_browser')
  }
  if (op.caller === 'secret') codes.add('secret_key_required')
  if (takesConsoleSessions(op)) codes.add('no_console_session').add('csrf_required').add('role_not_allowed')
  if (op.capability === 'owner') codes.add('owner_token_required')
  if (op.capability === 'contributor') codes.add('contributor_token_required')
  if (op.role === 'issuer') codes.add('issuer_role_required')
  if (op.path.includes('{')) codes.add('not_found')
  if (op.method !== 'GET') codes.add('payload_too_large')
  if (op.idempotency) codes.add('idempotency_key_reused').add('idempotency_in_progress')
  if (op.idempotency === 'required') codes.add('idempotency_key_required')
  for (const code of op.errors ?? []) codes.add(code)
  return [...codes]
}

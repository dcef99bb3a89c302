import { parseCompactJws } from './compact-jws.ts'
import type { TokenExpectations, TokenVerdict } from './id-token.ts'
import { MAX_TOKEN_LENGTH } from './rs256-form.ts'
import { openSignedToken } from './signed-token.ts'
import { checkTokenClaims, type TokenClaims, type TokenLifetime } from './token-claims.ts'

/**
 * The type in the signed header of an agent's token (RFC 8725 §3.11), in this spelling only. verifyIdToken rejects
 * it and verifyAgentToken requires it: even if one issuer signed both kinds, neither could be mistaken for the
 * other.
 */
export const AGENT_TOKEN_TYPE = 'agent+jwt'

/**
 * A token cannot be revoked, so an agent's is short-lived: it is rejected 60 seconds after it was issued, which is
 * at most 60 seconds after the end of its session. Of these, 45 seconds are its lifetime, long enough for a held
 * poll, and 15 the tolerance for a verifier's clock that is behind. A clock that is further behind is noticed at
 * once, because it rejects fresh tokens as not yet valid.
 */
export const AGENT_TOKEN_LIFETIME: TokenLifetime = { maxAgeSeconds: 45, lateSeconds: 0, earlySeconds: 15 }

const AGENT_ID = /^agt_[0-9A-Za-z]{22}$/

/** Which kind of token this claims to be. It does not check whether the token is valid. */
export function isAgentToken(token: unknown): boolean {
  return parseCompactJws(token, MAX_TOKEN_LENGTH)?.header.typ === AGENT_TOKEN_TYPE
}

/**
 * Verifies a token that the platform signed for an agent's device key, with the same order of reasons as
 * verifyIdToken and the lifetime in AGENT_TOKEN_LIFETIME. `sub` must be the agent's id, else the token is
 * `malformed`. An e-mail address in it is ignored.
 */
export async function verifyAgentToken(token: unknown, expected: TokenExpectations): Promise<TokenVerdict<TokenClaims>> {
  const opened = await openSignedToken(token, expected.keys, (typ) => typ === AGENT_TOKEN_TYPE)
  if (!opened.ok) return opened
  const claims = checkTokenClaims(opened.claims, expected, AGENT_TOKEN_LIFETIME)
  if (typeof claims === 'string') return { ok: false, reason: claims }
  return AGENT_ID.test(claims.sub) ? { ok: true, claims } : { ok: false, reason: 'malformed' }
}

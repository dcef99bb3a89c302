import { parseCompactJws } from './compact-jws.ts'
import type { TokenExpectations, TokenVerdict } from './id-token.ts'
import { MAX_TOKEN_LENGTH, openSignedToken } from './signed-token.ts'
import { checkTokenClaims, type TokenClaims, type TokenLifetime } from './token-claims.ts'

/**
 * The type that an agent's token bears in its signed header (RFC 8725 §3.11), in this one spelling. verifyIdToken
 * refuses it and verifyAgentToken asks for it: even where one issuer signed both, neither could be taken for the
 * other.
 */
export const AGENT_TOKEN_TYPE = 'agent+jwt'

/**
 * Nobody can take a token back, so an agent's is short: it opens nothing 60 seconds after it was made, which is 60
 * seconds after the end of its session at the latest. 45 of them are its life, long enough for a poll that is held; 15
 * are how slow this clock may be. A clock that is slower shows at once: it refuses fresh tokens as not yet valid.
 */
export const AGENT_TOKEN_LIFETIME: TokenLifetime = { maxAgeSeconds: 45, lateSeconds: 0, earlySeconds: 15 }

const AGENT_ID = /^agt_[0-9A-Za-z]{22}$/

/** Which way a token is to be judged. Says nothing of whether it is genuine. */
export function isAgentToken(token: unknown): boolean {
  return parseCompactJws(token, MAX_TOKEN_LENGTH)?.header.typ === AGENT_TOKEN_TYPE
}

/**
 * Verifies a token that the platform signed for an agent's device key, with the same order of reasons as
 * verifyIdToken, for as long as AGENT_TOKEN_LIFETIME says. `sub` is the agent's id, else it is `malformed`. An e-mail
 * address in it means nothing.
 */
export async function verifyAgentToken(token: unknown, expected: TokenExpectations): Promise<TokenVerdict<TokenClaims>> {
  const opened = await openSignedToken(token, expected.keys, (typ) => typ === AGENT_TOKEN_TYPE)
  if (!opened.ok) return opened
  const claims = checkTokenClaims(opened.claims, expected, AGENT_TOKEN_LIFETIME)
  if (typeof claims === 'string') return { ok: false, reason: claims }
  return AGENT_ID.test(claims.sub) ? { ok: true, claims } : { ok: false, reason: 'malformed' }
}

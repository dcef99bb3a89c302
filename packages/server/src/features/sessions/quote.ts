import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose'
import { invalid } from '#errors/api-error.ts'
import { messageOf } from '#errors/caught.ts'
import type { Agent } from '#features/agents/agent.ts'
import type { Context } from '#features/context.ts'

type Keys = Pick<Context, 'agentIssuer' | 'signingKeys'>

/** What a launch may cost, as it was promised to one tenant for one agent. */
export interface Quote {
  priceCredits: number
  maxMinutes: number
}

const lifeSeconds = 15 * 60
const quoteType = 'quote+jwt'

/** Signs a quote. Nothing is stored: the quote itself proves what was promised. */
export async function signQuote(
  { agentIssuer, signingKeys }: Keys,
  tenantId: string,
  agent: Pick<Agent, 'id' | 'priceCredits'>,
  maxMinutes: number,
): Promise<{ quote: string; validUntil: string }> {
  const { kid, privateKey } = await signingKeys.quotes.current()
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const quote = await new SignJWT({ price: agent.priceCredits, max_minutes: maxMinutes })
    .setProtectedHeader({ alg: 'ES256', typ: quoteType, kid })
    .setIssuer(agentIssuer.issuer)
    .setAudience(tenantId)
    .setSubject(agent.id)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + lifeSeconds)
    .sign(privateKey)
  return { quote, validUntil: new Date((nowSeconds + lifeSeconds) * 1_000).toISOString() }
}

/** Verifies a quote for this tenant and agent. Throws invalid_request, which says what is wrong with it. */
export async function openQuote(
  { agentIssuer, signingKeys }: Keys,
  tenantId: string,
  agentId: string,
  quote: string,
): Promise<Quote> {
  try {
    const key = await signingKeys.quotes.find(decodeProtectedHeader(quote).kid)
    if (!key) throw invalid('/quote', 'was signed by a key that is not in use any more: get another one')
    const { issuer } = agentIssuer
    const rules = { issuer, audience: tenantId, subject: agentId, algorithms: ['ES256'], typ: quoteType }
    const { payload } = await jwtVerify<{ price: number; max_minutes: number }>(quote, key, rules)
    return { priceCredits: payload.price, maxMinutes: payload.max_minutes }
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw invalid('/quote', 'has expired: get another one')
    if (error instanceof errors.JWTClaimValidationFailed) throw invalid('/quote', `is not for this launch: ${messageOf(error)}`)
    // A header that cannot be decoded is a TypeError.
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw invalid('/quote', 'is no quote of this installation')
    throw error
  }
}

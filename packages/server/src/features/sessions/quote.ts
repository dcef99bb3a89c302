import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from '#libraries/jose.js'
import { invalid } from '#errors/api-error.ts'
import { messageOf } from '#errors/caught.ts'
import type { Agent } from '#features/agents/agent.ts'
import type { Context } from '#features/context.ts'

type Keys = Pick<Context, 'agentIssuer' | 'signingKeys'>

/** What a launch may cost, as it was promised to one tenant for one agent. */
export interface Quote {
  priceCredits: number
  maxMinutes: number
  /** Of an agent whose use is metered; undefined: the release before promised only the price. */
  creditsPer1kTokens: number | undefined
  creditsPerToolCall: number | undefined
}

type Prices = Pick<Agent, 'priceCredits' | 'creditsPer1kTokens' | 'creditsPerToolCall'>

const lifeSeconds = 15 * 60
const quoteType = 'quote+jwt'

/** Signs a quote. Nothing is stored: the quote itself proves what was promised. */
export async function signQuote(
  { agentIssuer, signingKeys }: Keys,
  tenantId: string,
  agent: Prices & Pick<Agent, 'id'>,
  maxMinutes: number,
): Promise<{ quote: string; validUntil: string }> {
  const { kid, privateKey } = await signingKeys.quotes.current()
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const promised = {
    price: agent.priceCredits,
    max_minutes: maxMinutes,
    credits_per_1k_tokens: agent.creditsPer1kTokens,
    credits_per_tool_call: agent.creditsPerToolCall,
  }
  const quote = await new SignJWT(promised)
    .setProtectedHeader({ alg: 'ES256', typ: quoteType, kid })
    .setIssuer(agentIssuer.issuer)
    .setAudience(tenantId)
    .setSubject(agent.id)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + lifeSeconds)
    .sign(privateKey)
  return { quote, validUntil: new Date((nowSeconds + lifeSeconds) * 1_000).toISOString() }
}

/** The quoted price or the current one, whichever is lower. */
export function atQuotedPrices<Priced extends Prices>(agent: Priced, quote: Quote): Priced {
  return {
    ...agent,
    priceCredits: Math.min(agent.priceCredits, quote.priceCredits),
    creditsPer1kTokens: Math.min(agent.creditsPer1kTokens, quote.creditsPer1kTokens ?? Infinity),
    creditsPerToolCall: Math.min(agent.creditsPerToolCall, quote.creditsPerToolCall ?? Infinity),
  }
}

interface Claims {
  price: number
  max_minutes: number
  credits_per_1k_tokens?: number
  credits_per_tool_call?: number
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
    const { payload } = await jwtVerify<Claims>(quote, key, rules)
    const { price, max_minutes: minutes, credits_per_1k_tokens: perTokens, credits_per_tool_call: perCall } = payload
    return { priceCredits: price, maxMinutes: minutes, creditsPer1kTokens: perTokens, creditsPerToolCall: perCall }
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw invalid('/quote', 'has expired: get another one')
    if (error instanceof errors.JWTClaimValidationFailed) throw invalid('/quote', `is not for this launch: ${messageOf(error)}`)
    // A header that cannot be decoded is a TypeError.
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw invalid('/quote', 'is no quote of this installation')
    throw error
  }
}

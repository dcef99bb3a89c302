import { AGENT_TOKEN_LIFETIME, AGENT_TOKEN_TYPE } from '@atrium/identity/agent-token'
import { parseDeviceKey } from '@atrium/identity/device-key'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { SignJWT } from '#libraries/jose.js'
import { applyCors } from '#http/cors.ts'
import type { Context } from '../context.ts'
import { proofUrl } from '../transparency-log/entries.ts'
import type { PlatformKeys } from '../platform-keys/platform-keys.ts'

/** Signs the ID tokens by which the Space service recognises agents, and only agents. */
export interface AgentIssuer {
  /**
   * Issues a token that binds the agent to the device key `spk`. The token expires after 45 seconds, or at `notAfter`
   * if that comes first: it cannot be revoked, and must not outlive its session by more than a minute.
   */
  issue(
    agent: { id: string; name: string },
    spk: { kty: string; crv: string; x: string; y: string },
    notAfter?: Date,
  ): Promise<string>
  /**
   * Adopts the verifier's clock, after it refused a token as too old or too new. `date`: its `Date` header (RFC 9110).
   */
  followClock(date: string | null): void
}

interface PlatformIssuerOptions {
  /** The API's origin. */
  issuer: string
  /** The Space service's origin: a token for one service is useless at another. */
  audience: string
  keys: PlatformKeys
  /** Called when the verifier's clock is too far from this one: until they agree, it refuses each token. */
  onWrongClock: (aheadSeconds: number) => void
}

const lifeMs = AGENT_TOKEN_LIFETIME.maxAgeSeconds * 1_000
/** A server that answers with a wrong date must not obtain a token for the far future. */
const maxAheadMs = 10 * 60_000
/** Each call of each agent finds the same difference. */
const reportIntervalMs = 60_000
const maxNameLength = 200

/** The platform's own issuer (RS256). */
export class PlatformIssuer implements AgentIssuer {
  readonly issuer: string
  readonly keys: PlatformKeys
  readonly #audience: string
  readonly #onWrongClock: PlatformIssuerOptions['onWrongClock']
  #aheadMs = 0
  #reportedAtMs = -Infinity

  constructor({ issuer, audience, keys, onWrongClock }: PlatformIssuerOptions) {
    this.issuer = issuer
    this.keys = keys
    this.#audience = audience
    this.#onWrongClock = onWrongClock
  }

  followClock(date: string | null): void {
    const aheadMs = Date.parse(date ?? '') - Date.now()
    if (Number.isNaN(aheadMs)) return
    if (Math.abs(aheadMs) <= maxAheadMs) {
      this.#aheadMs = aheadMs
    } else if (performance.now() - this.#reportedAtMs >= reportIntervalMs) {
      this.#reportedAtMs = performance.now()
      this.#onWrongClock(Math.round(aheadMs / 1_000))
    }
  }

  async issue(
    agent: { id: string; name: string },
    spk: { kty: string; crv: string; x: string; y: string },
    notAfter?: Date,
  ): Promise<string> {
    const device = parseDeviceKey(spk)
    if (!device) throw new Error('the device key is no public EC P-256 key')
    const { kid, privateKey } = await this.keys.current()
    const nowMs = Date.now() + this.#aheadMs
    const endsMs = Math.min(nowMs + lifeMs, (notAfter?.getTime() ?? Infinity) + this.#aheadMs)
    // Its type, too, tells the token from a person's token, whichever provider issues those.
    return new SignJWT({ name: [...agent.name].slice(0, maxNameLength).join(''), nonce: device.thumbprint })
      .setProtectedHeader({ alg: 'RS256', typ: AGENT_TOKEN_TYPE, kid })
      .setIssuer(this.issuer)
      .setAudience(this.#audience)
      .setSubject(agent.id)
      .setIssuedAt(Math.floor(nowMs / 1_000))
      .setExpirationTime(Math.floor(endsMs / 1_000))
      .sign(privateKey)
  }
}

const keySetPath = '/.well-known/jwks.json'
/** How long caches may keep the key set. The next key is published for at least this long before it signs. */
export const keySetMaxAgeSeconds = 60

/**
 * Publishes the keys that verify agents' tokens, by OpenID discovery at the API's origin, and those of receipts and
 * quotes beside them. The document holds only what a verifier needs, because nobody signs in here.
 */
export function addAgentIssuer(app: FastifyInstance, ctx: Pick<Context, 'agentIssuer' | 'signingKeys' | 'config'>): void {
  const { issuer, keys } = ctx.agentIssuer
  const { publicUrl } = ctx.config
  const others = [ctx.signingKeys.receipts, ctx.signingKeys.quotes]
  const document = {
    issuer,
    jwks_uri: issuer + keySetPath,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['sub', 'name', 'nonce'],
  }
  app.get('/.well-known/openid-configuration', async (_req, reply) => publish(reply, document))
  app.get(keySetPath, async (req, reply) => {
    const agentKeys = { purpose: keys.purpose, keys: await keys.published() }
    const loads = await Promise.allSettled(others.map(async (one) => ({ purpose: one.purpose, keys: await one.published() })))
    // Those of receipts and quotes may not be loaded yet. If the database fails now, agents still get into their rooms:
    // a verifier that finds no key for a receipt asks again.
    for (const load of loads) if (load.status === 'rejected') req.log.warn({ err: load.reason as Error }, 'a key set is left out')
    const sets = [agentKeys, ...loads.flatMap((load) => (load.status === 'fulfilled' ? [load.value] : []))]
    // Beside the keys: a verifier ignores members of the set that it does not know (RFC 7517, section 5), and each key
    // is what the log has.
    const proofs = sets.flatMap(({ purpose: use, keys: jwks }) =>
      jwks.map((jwk) => [jwk.kid, proofUrl(publicUrl, { type: 'signing_key', use, jwk })]),
    )
    return publish(reply, { keys: sets.flatMap((set) => set.keys), log_proofs: Object.fromEntries(proofs) as object })
  })
}

/** Any origin may read it. Caches keep it only briefly, so that a retired key disappears. */
function publish(reply: FastifyReply, body: object): FastifyReply {
  applyCors(reply)
  return reply.header('cache-control', `public, max-age=${keySetMaxAgeSeconds}`).send(body)
}

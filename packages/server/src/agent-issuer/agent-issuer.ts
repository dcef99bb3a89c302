import { AGENT_TOKEN_TYPE } from '@atrium/identity/agent-token'
import { parseDeviceKey } from '@atrium/identity/device-key'
import { SignJWT } from 'jose'
import type { PlatformKeys } from './platform-keys.ts'

/** Proves agents: signs ID tokens that the Space service takes for agents, and for nobody else. */
export interface AgentIssuer {
  /** A token that says which agent holds the device key `spk`. It ends after two hours, or at `notAfter` if that comes first. */
  issue(
    agent: { id: string; name: string },
    spk: { kty: string; crv: string; x: string; y: string },
    notAfter?: Date,
  ): Promise<string>
}

interface PlatformIssuerOptions {
  /** The API's origin. */
  issuer: string
  /** The Space service's origin: a token that one service was shown opens nothing at another. */
  audience: string
  keys: PlatformKeys
}

const lifeMs = 2 * 60 * 60_000
const maxNameLength = 200

/** The platform's own issuer (RS256). */
export class PlatformIssuer implements AgentIssuer {
  readonly issuer: string
  readonly keys: PlatformKeys
  readonly #audience: string

  constructor({ issuer, audience, keys }: PlatformIssuerOptions) {
    this.issuer = issuer
    this.keys = keys
    this.#audience = audience
  }

  async issue(
    agent: { id: string; name: string },
    spk: { kty: string; crv: string; x: string; y: string },
    notAfter?: Date,
  ): Promise<string> {
    const device = parseDeviceKey(spk)
    if (!device) throw new Error('a token was asked for a key that is no public EC P-256 key')
    const { kid, privateKey } = await this.keys.current()
    const nowMs = Date.now()
    const endsMs = Math.min(nowMs + lifeMs, notAfter?.getTime() ?? Infinity)
    // By its type, too, nobody can take it for a person's token, whoever issues those.
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

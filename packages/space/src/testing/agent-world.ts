import { createHash, randomBytes } from 'node:crypto'
import { AGENT_TOKEN_TYPE } from '@atrium/identity/agent-token'
import { createTestDevice, type TestProvider } from '@atrium/identity/testing/provider'
import { serveTestProvider } from '@atrium/identity/testing/serve-provider'
import { CompactSign, type CryptoKey } from 'jose'
import { type Got, startTestSpace, type TestSpace } from './test-space.ts'

export const spacesUrl = 'https://spaces.example'
export const scribe = 'agt_0123456789abcdefghijAB'

interface AgentToken {
  id?: string
  claims?: object
  header?: object
  by?: TestProvider
}

/** A Space service with an identity provider for people and a platform for agents, and some of both. */
export async function startAgentWorld() {
  const idp = await serveTestProvider({ audience: 'spaces' })
  const platform = await serveTestProvider({ audience: spacesUrl })
  const forAgents = { ATRIUM_PUBLIC_URL: platform.provider.issuer, ATRIUM_SPACES_URL: spacesUrl }
  const forPeople = { OIDC_ISSUER: idp.provider.issuer, OIDC_CLIENT_ID: 'spaces' }
  const space = await startTestSpace({ ...forAgents, ...forPeople })

  /** An agent at work: what it sends to be let in. */
  async function agent({ id = scribe, claims = {}, header = {}, by = platform.provider }: AgentToken = {}) {
    const device = await createTestDevice()
    const said = { sub: id, name: 'Scribe', nonce: device.nonce, email: undefined, email_verified: undefined, ...claims }
    const idToken = await by.sign(said, { typ: AGENT_TOKEN_TYPE, ...header })
    return { identity: { idToken, spk: device.spk }, device }
  }

  async function person(email: string, claims: object = {}, header: Record<string, unknown> = {}) {
    const device = await createTestDevice()
    const idToken = await idp.provider.sign({ email, sub: email, nonce: device.nonce, ...claims }, header)
    return { identity: { idToken, spk: device.spk }, device }
  }

  async function emailRoom(more: object = { agents: [scribe] }, at: TestSpace = space) {
    const owner = await person('owner@example.com')
    const secret = fresh()
    const made = await at.call('create', { ...secret, policy: 'email', allow: ['ada@example.com'], ...more, ...owner.identity })
    if (made.status !== 200) throw new Error(JSON.stringify(made.body))
    return { secret, owner }
  }

  async function close(): Promise<void> {
    await space.close()
    idp.close()
    platform.close()
  }

  return { idp, platform, space, forAgents, forPeople, agent, person, emailRoom, close }
}

export const fresh = () => ({ room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') })
export const now = () => Math.floor(Date.now() / 1_000)

export function reasonOf({ status, body }: Got): string {
  return status === 200 ? 'in' : `${status} ${body.error} ${body.reason}`
}

/** A device's proof that it holds its key, for this operation and message. */
export function proofOf(key: CryptoKey, claims: { op: string; room: string }, message: string): Promise<string> {
  const sha256 = createHash('sha256').update(message).digest('hex')
  return new CompactSign(new TextEncoder().encode(JSON.stringify({ ...claims, iat: now(), sha256 })))
    .setProtectedHeader({ alg: 'ES256' })
    .sign(key)
}

import type { Place } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import { randomBytes } from '#crypto/random.ts'
import type { Agent, Manifest } from './agent.ts'

type Home = Pick<Agent, 'tenantId' | 'id'>

/** A fresh secret in the form of Standard Webhooks: it signs what is sent to a remote agent. */
function newSigningSecret(): string {
  return `whsec_${Buffer.from(randomBytes(24)).toString('base64')}`
}

/** Gives a remote agent a secret where it has none yet, or a new one on request; `secret` is shown once. */
export function withSigningSecret<M extends Manifest>(
  vault: Vault,
  home: Home,
  manifest: M,
  rotate = false,
): { manifest: M; secret: string | undefined } {
  if (manifest.endpoint === null || (manifest.signingSecret && !rotate)) return { manifest, secret: undefined }
  const secret = newSigningSecret()
  return { manifest: { ...manifest, signingSecret: vault.seal(Buffer.from(secret), placeOf(home)) }, secret }
}

export function openSigningSecret(vault: Vault, agent: Home & Pick<Agent, 'signingSecret'>): string {
  if (!agent.signingSecret) throw new Error(`agent ${agent.id} has no signing secret`)
  return vault.open(agent.signingSecret, placeOf(agent)).toString()
}

function placeOf({ tenantId, id }: Home): Place {
  return { tenant: tenantId, table: 'agents', column: 'signing_secret', row: id }
}

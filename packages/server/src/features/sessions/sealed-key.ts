import { parseDeviceKey } from '@atrium/identity/device-key'
import { parseJsonObject } from '@atrium/contract/strict-json'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { Agent } from '../agents/agent.ts'

const noKey =
  'The agent has no `encryption_key`, so it cannot be launched into a room whose key no server receives. Choose a remote ' +
  'agent that the catalog shows with one, or ask the owner of this agent to set one.'
const otherKey =
  'The agent has another `encryption_key` by now. Read it from the catalog again, seal to it, and repeat the launch with ' +
  'a new Idempotency-Key.'

/**
 * Asserts that `sealedKey` is a JWE by ECDH-ES to the agent's key, as far as its header says: what is in it, nobody but
 * the agent can open. The pattern of the whole is in the contract.
 */
export function assertSealedTo(key: Agent['encryptionKey'], sealedKey: string): void {
  const header = parseJsonObject(Buffer.from(sealedKey.split('.', 1).join(''), 'base64url').toString())
  if (header?.['alg'] !== 'ECDH-ES' || header['enc'] !== 'A256GCM' || !parseDeviceKey(header['epk']))
    throw invalid('/room/sealed_key', 'must have the alg ECDH-ES, the enc A256GCM and a P-256 key as epk in its header')
  if (!key) throw new ApiError('state_conflict', { message: noKey, reason: 'client_sealed' })
  if (header['kid'] !== parseDeviceKey(key)?.thumbprint)
    throw new ApiError('state_conflict', { message: otherKey, reason: 'agent_key_changed' })
}

import { randomBytes, randomUUID } from 'node:crypto'
import { agentControlToken, agentEndpoint } from './agent-endpoint.ts'
import { askGood, type TestTenant } from './call-api.ts'
import { deepWallet } from './credits.ts'

/** A room that nobody has been in. */
export const newRoom = () => ({ room: `room-${randomUUID()}`, mk: randomBytes(32).toString('base64url') })

/** An agent that only its tenant may launch: a remote one, which does nothing of itself. */
export async function makeAgent(origin: string, { secret: key }: TestTenant, manifest: object = {}): Promise<string> {
  const limits = { price_credits: 0, max_minutes: 30 }
  const body = {
    name: 'Lamplighter',
    description: 'Tells of lamps.',
    instructions: '',
    endpoint: await agentEndpoint(),
    ...limits,
    ...manifest,
  }
  const { data } = await askGood(origin, 'POST /agents', { key, body })
  await askGood(origin, `PUT /agents/${data.id}/status`, { key, body: { status: 'private' } })
  return data.id
}

export async function launchBody(origin: string, tenant: TestTenant, agentId: string) {
  return { agent_id: agentId, room: newRoom(), coupon: await deepWallet(origin, tenant) }
}

/** A session in which the agent is: its id, and the control tokens of whoever launched it and of the agent. */
export async function startSession(origin: string, tenant: TestTenant, agentId: string) {
  const body = await launchBody(origin, tenant, agentId)
  const { data } = await askGood(origin, 'POST /v1/sessions', { key: tenant.secret, idempotencyKey: randomUUID(), body })
  const agentControl = await agentControlToken(data.id)
  await askGood(origin, `POST /sessions/${data.id}/joined`, { key: agentControl })
  return { id: data.id, control: data.control_token, agentControl }
}

/** The summon key of a room that is armed for the agent. */
export async function armRoom(origin: string, tenant: TestTenant, agentId: string): Promise<string> {
  const body = { ...(await launchBody(origin, tenant, agentId)), arm: true }
  const { data } = await askGood(origin, 'POST /v1/sessions', { key: tenant.secret, idempotencyKey: randomUUID(), body })
  return data.summon_key
}

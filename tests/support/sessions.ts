import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { agentControlToken, agentEndpoint } from './agent-endpoint.ts'
import { askGood, call, NoAnswer, type TestTenant } from './call-api.ts'
import { deepWallet } from './credits.ts'

/** A room that nobody has been in. */
export const newRoom = () => ({ room: `room-${randomUUID()}`, mk: randomBytes(32).toString('base64url') })

/** An agent that only its tenant may launch: a remote one that does nothing. */
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

/** A session that the agent has joined: its id, and the control tokens of the launcher and the agent. */
export async function startSession(origin: string, tenant: TestTenant, agentId: string) {
  const body = await launchBody(origin, tenant, agentId)
  const { data } = await askGood(origin, 'POST /v1/sessions', { key: tenant.secret, idempotencyKey: randomUUID(), body })
  const agentControl = await agentControlToken(data.id)
  await askGood(origin, `POST /sessions/${data.id}/joined`, { key: agentControl })
  return { id: data.id, control: data.control_token, agentControl }
}

/** A session of a hosted agent, launched with a budget. */
export async function startBudgetedSession(origin: string, tenant: TestTenant) {
  const agentId = await makeAgent(origin, tenant, { endpoint: undefined, credits_per_1k_tokens: 1 })
  const body = { ...(await launchBody(origin, tenant, agentId)), budget_credits: 2 }
  const { data } = await askGood(origin, 'POST /v1/sessions', { key: tenant.secret, idempotencyKey: randomUUID(), body })
  return { id: data.id, control: data.control_token, agentControl: '', coupon: body.coupon }
}

/** The summon key of a pending launch of the agent. */
export async function armRoom(origin: string, tenant: TestTenant, agentId: string): Promise<string> {
  const body = { ...(await launchBody(origin, tenant, agentId)), arm: true }
  const { data } = await askGood(origin, 'POST /v1/sessions', { key: tenant.secret, idempotencyKey: randomUUID(), body })
  return data.summon_key
}

/** Says it in the room, and waits until the agent has answered. While the room cannot be reached, it is tried again. */
export async function assertAgentAnswers(origin: string, room: object, text: string, withinMs = 30_000): Promise<void> {
  const space = async (fields: object) => {
    const { status, text: json } = await call(origin, 'POST /v1/space', { body: { ...fields, ...room } })
    return { status, body: JSON.parse(json) as { id?: string; entries?: { message: { reply_to?: string } }[] } }
  }
  const message = { text, client_id: randomUUID() }
  const isAnswered = async () => {
    const { status, body } = await space({ op: 'turn', message })
    if (status !== 200) return false
    const { entries = [] } = (await space({ op: 'poll', sinceCount: 0 })).body
    return entries.some((entry) => entry.message.reply_to === body.id)
  }
  const orNobody = (error: unknown) => {
    if (error instanceof NoAnswer) return false
    throw error
  }
  for (const deadline = Date.now() + withinMs; !(await isAnswered().catch(orNobody)); await delay(100))
    assert.ok(Date.now() < deadline, `"${text}" is not answered`)
}

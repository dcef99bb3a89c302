import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { callOperator } from '../../packages/cli/src/operator-api.ts'
import type { AtriumClient } from '../../packages/client/src/call.ts'
import { note, step } from './narrate.ts'

interface Entry {
  author: { kind: string; name?: string }
  message: { text: string }
}

export interface Room {
  room: string
  mk: string
}

const timeoutMs = 15_000

/**
 * The second half of the evening: credits are bought, and an agent is invited into a sealed room, talks, leaves and
 * is paid. Resolves to the room.
 */
export async function inviteAgent(owner: AtriumClient, people: AtriumClient, publicUrl: string): Promise<Room> {
  const walletCode = await buyCredits(owner, people)
  const { coupon } = await grant(owner, walletCode)
  const agentId = await registerAgent(owner)
  const room: Room = { room: `quay-${randomUUID().slice(0, 8)}`, mk: randomBytes(32).toString('base64url') }

  step('The agent is launched into a sealed room')
  await callSpace(publicUrl, { op: 'create', ...room, policy: 'open', title: 'An evening on the quay' })
  const body = { agent_id: agentId, room, coupon, max_price_credits: 5 }
  const { data: launched } = await owner.launchSession({ body, idempotencyKey: randomUUID() })
  assert.ok('control_token' in launched, 'a fresh room has no agent yet')
  note(`${launched.id}: its price of ${launched.price_credits} credits is held on the coupon.`)
  await converse(publicUrl, room)

  step('It is told to leave, and the bill is settled')
  const controlToken = launched.control_token
  await owner.stopSession({ id: launched.id, controlToken })
  const { data: settled } = await owner.getSession({ id: launched.id, controlToken })
  assert.deepEqual([settled.status, settled.charged_credits], ['stopped', 5])
  note(`${settled.charged_credits} credits were captured; what else was on the coupon is still there.`)
  const { data: usage } = await owner.getUsage({})
  const spent = usage.find(({ meter }) => meter === 'credits')
  assert.equal(spent?.quantity, 5)
  note(`The usage report shows them: ${spent.period}, ${spent.quantity} credits.`)
  const audit = await callOperator<{ findings: unknown[]; transfers: number }>('GET /operator/audit')
  assert.deepEqual(audit.findings, [])
  note(`The operator's audit reads ${audit.transfers} transfers: the ledger is consistent.`)
  return room
}

async function buyCredits(owner: AtriumClient, people: AtriumClient): Promise<string> {
  step('Credits are bought, on the page that is marked as a test')
  const back = 'https://alderquay.example/thanks'
  const { data: checkout } = await owner.createCheckout({
    body: { purpose: 'license_key', credits: 100, success_url: back, cancel_url: back },
    idempotencyKey: randomUUID(),
  })
  const paid = await fetch(checkout.url, { method: 'POST', body: new URLSearchParams({ do: 'pay' }), redirect: 'manual' })
  assert.equal(paid.status, 303)
  const { data: done } = await owner.getCheckout({ id: checkout.id })
  assert.ok(done.license_key)
  note('It was paid: the license key came once.')
  const { data: wallet } = await people.redeemWallet({ body: { license_key: done.license_key } })
  note(`A visitor redeems it: a wallet with ${wallet.balance} credits.`)
  return wallet.wallet_code
}

async function grant(owner: AtriumClient, walletCode: string) {
  const { data } = await owner.grantCoupon({
    body: { amount: 8, wallet_code: walletCode, memo: 'One evening with the lamplighter' },
    idempotencyKey: randomUUID(),
  })
  note(`${data.amount} of them become a coupon, good for an evening with an agent.`)
  return data
}

async function registerAgent(owner: AtriumClient): Promise<string> {
  step('An agent is registered')
  const { data } = await owner.registerAgent({
    body: {
      name: 'Lamplighter',
      description: 'Keeps visitors of the quay company. Runs on the built-in echo: no language model is needed to try it.',
      instructions: 'You are an old lamplighter. Answer briefly and kindly.',
      greeting: 'Good evening. The lamps are lit.',
      price_credits: 5,
      max_minutes: 30,
    },
    idempotencyKey: randomUUID(),
  })
  await owner.setAgentStatus({ agentId: data.id, body: { status: 'private' } })
  note(`${data.name} (${data.id}), ${data.price_credits} credits a launch.`)
  return data.id
}

async function converse(publicUrl: string, room: Room): Promise<void> {
  const greeting = await heard(publicUrl, room, 1)
  note(`${greeting.author.name}: ${greeting.message.text}`)
  const question = 'Which lamp burns longest?'
  await callSpace(publicUrl, { op: 'turn', ...room, message: { text: question } })
  note(`A visitor: ${question}`)
  const saidAt = Date.now()
  const answer = await heard(publicUrl, room, 2)
  note(`${answer.author.name}: ${answer.message.text.replaceAll(/\s+/g, ' ')}`)
  note(`It took ${Date.now() - saidAt} ms.`)
}

/** Waits for the nth message of an agent. */
async function heard(publicUrl: string, room: Room, nth: number): Promise<Entry> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const { entries = [] } = await callSpace(publicUrl, { op: 'poll', ...room, sinceCount: 0 })
    const said = entries.filter(({ author }) => author.kind === 'agent')[nth - 1]
    if (said) return said
    if (Date.now() > deadline) throw new Error('the agent said nothing')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function callSpace(publicUrl: string, body: object): Promise<{ entries?: Entry[] }> {
  const res = await fetch(`${publicUrl}/v1/space`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await res.json()) as { entries?: Entry[] }
}

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { proofContent } from '@atrium/sealing/proof'
import { fresh, proofOf, reasonOf, startAgentWorld } from './testing/agent-world.ts'

let world: Awaited<ReturnType<typeof startAgentWorld>>
before(async () => void (world = await startAgentWorld()))
after(() => world.close())

type Device = Awaited<ReturnType<typeof createTestDevice>>

const prove = (device: Device, op: string, fields: { room: string; [name: string]: unknown }) =>
  proofOf(device.privateKey, { op, room: fields.room }, proofContent({ op, ...fields }))

/** A call that the device proves. */
async function callProven(device: Device, op: string, fields: { room: string; [name: string]: unknown }) {
  const { spk } = device
  return world.space.call(op, { ...fields, spk, proof: await prove(device, op, fields) })
}

const rename = (secret: { room: string; mk: string }, title: unknown, identity: object) =>
  world.space.call('rename', { ...secret, title, ...identity })

test('the account that owns a room gives it another title, and its list and its messages stay', async () => {
  const { secret, owner } = await world.emailRoom()
  const ada = await world.person('ada@example.com')
  await world.space.call('turn', { ...secret, ...ada.identity, message: { text: 'Hello' } })
  assert.equal((await rename(secret, 'The quay', owner.identity)).status, 200)
  const { body } = await world.space.call('poll', { ...secret, ...ada.identity })
  assert.deepEqual([body.title, body.count, body.entries.length, body.policy], ['The quay', 3, 1, 'email'])
})

test('nobody but the owner does, whatever key they hold', async () => {
  const { secret } = await world.emailRoom()
  const [ada, agent] = await Promise.all([world.person('ada@example.com'), world.agent()])
  assert.equal(reasonOf(await rename(secret, 'Mine', ada.identity)), '403 not_authorized not_owner')
  assert.equal(reasonOf(await rename(secret, 'Mine', agent.identity)), '403 not_authorized not_owner')
  assert.equal(reasonOf(await rename(secret, 'Mine', {})), '403 not_authorized unsigned')
  const nobodys = fresh()
  await world.space.call('create', { ...nobodys, policy: 'open' })
  assert.equal(reasonOf(await rename(nobodys, 'Mine', {})), '403 not_authorized unsigned')
})

test('a guest renames the open room of their device with a proof, and a captured proof allows no other title', async () => {
  const [device, secret] = [await createTestDevice(), fresh()]
  await callProven(device, 'create', { ...secret, policy: 'open', title: 'First' })
  const { spk } = device
  assert.equal(reasonOf(await rename(secret, 'Second', { spk })), '403 not_authorized not_owner')
  const proof = await prove(device, 'rename', { ...secret, title: 'Second' })
  assert.equal((await rename(secret, 'Second', { spk, proof })).status, 200)
  assert.equal(reasonOf(await rename(secret, 'Third', { spk, proof })), '403 not_authorized unproven')
  await callProven(device, 'rename', { ...secret, title: 'Third' })
  // Sent again, it is known by its proof.
  assert.equal((await rename(secret, 'Second', { spk, proof })).status, 200)
  assert.equal((await world.space.call('poll', { ...secret })).body.title, 'Third')
})

test('a title has 1 to 200 characters', async () => {
  const { secret, owner } = await world.emailRoom()
  for (const title of ['', 'x'.repeat(201), 5, undefined])
    assert.equal((await rename(secret, title, owner.identity)).body.error, 'invalid_request')
})

test('a guest’s name is stored as the claim of a guest; a bearer of a token claims none', async () => {
  const [device, secret] = [await createTestDevice(), fresh()]
  const message = { text: 'Hello' }
  assert.equal((await callProven(device, 'turn', { ...secret, message, name: 'Ann' })).status, 200)
  const { spk } = device
  const other = await prove(device, 'turn', { ...secret, message, name: 'Bob' })
  assert.equal(
    reasonOf(await world.space.call('turn', { ...secret, message, name: 'Ann', spk, proof: other })),
    '403 not_authorized unproven',
  )
  const [{ author }] = (await world.space.call('poll', { ...secret })).body.entries
  assert.deepEqual(author, { kind: 'anonymous', name: 'Ann', key: device.nonce, proven: true })
  const ada = await world.person('ada@example.com', { name: 'Ada' })
  const refused = await world.space.call('turn', { ...secret, message, name: 'Ann', ...ada.identity })
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_request'])
  for (const name of ['', 'x'.repeat(61), 7])
    assert.equal((await world.space.call('turn', { ...secret, message, name })).body.error, 'invalid_request')
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { errorCodesOf } from '../packages/contract/src/error-codes.ts'
import type { ErrorCode } from '../packages/contract/src/errors.ts'
import type { CredentialKind } from '../packages/contract/src/tokens.ts'
import { operations, servedOperations, type OperationId } from '../packages/contract/src/table.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import type { AtriumProcess } from './support/atrium-process.ts'
import { askGood, call, makeTenant, type Answer, type TestTenant } from './support/call-api.ts'
import { buyLicense, deepWallet, makeWallet } from './support/credits.ts'
import { faceOf } from './support/face-of.ts'
import { fundIssuer } from './support/fund-issuer.ts'
import { credentials } from './support/matrix-cells.ts'
import { breakChecksum, makeDeadKeys, makeShelf, startForShelves, unknownCredential, type Shelf } from './support/matrix-world.ts'
import { armRoom, makeAgent, newRoom } from './support/sessions.ts'

let database: TestDatabase
let atrium: AtriumProcess
let origin: string
let own: TestTenant
let other: TestTenant
let shelf: Shelf
/** By tenant: what it may launch. */
const agents = new Map<TestTenant, string>()
before(async () => {
  database = await createTestDatabase()
  atrium = await startForShelves(database.url)
  origin = atrium.origin
  ;[own, other] = await Promise.all([makeTenant(origin, 'Own'), makeTenant(origin, 'Other')])
  shelf = await makeShelf(origin, own)
  for (const tenant of [own, other]) agents.set(tenant, await makeAgent(origin, tenant))
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
})

const makeCoupon = async (wallet: string) => {
  const options = { key: own.secret, idempotencyKey: randomUUID(), body: { amount: 5, wallet_code: wallet } }
  return (await askGood(origin, 'POST /v1/wallets/grant', options)).data.coupon
}

/** One code of each kind, valid for its purpose. */
const good: Partial<Record<CredentialKind, () => Promise<string>>> = {
  walletCode: () => deepWallet(origin, own),
  coupon: async () => makeCoupon(await deepWallet(origin, own)),
  licenseKey: () => buyLicense(origin, own.secret, 10),
  summonKey: () => armRoom(origin, own, agents.get(own)!),
  controlToken: () => Promise.resolve(shelf.control),
  secretKey: () => Promise.resolve(own.secret),
  adminToken: () => Promise.resolve(shelf.owner),
}

/** The fields of bodies that take a code: which kind they accept, and the answer to all others. */
const places: {
  op: OperationId
  takes: CredentialKind[]
  else: ErrorCode
  body: (code: string, tenant: TestTenant) => object
}[] = [
  { op: 'lookUpWallet', takes: ['walletCode', 'coupon'], else: 'not_found', body: (code) => ({ wallet_code: code }) },
  { op: 'redeemWallet', takes: ['licenseKey'], else: 'not_found', body: (code) => ({ license_key: code }) },
  { op: 'grantCoupon', takes: ['walletCode', 'coupon'], else: 'not_found', body: (code) => ({ amount: 1, wallet_code: code }) },
  {
    op: 'launchSession',
    takes: ['walletCode', 'coupon'],
    else: 'insufficient_credit',
    body: (code, tenant) => ({ agent_id: agents.get(tenant)!, room: newRoom(), coupon: code }),
  },
  { op: 'summonSession', takes: ['summonKey'], else: 'unauthorized', body: (code) => ({ summon_key: code }) },
]

function send(id: OperationId, tenant: TestTenant, body: object): Promise<Answer> {
  const { method, path, status } = operations[id]
  const route = `${method} ${status === 'legacy' ? '' : '/v1'}${path}`
  return call(origin, route, { key: tenant.secret, idempotencyKey: randomUUID(), body })
}

async function emptyWallet(): Promise<string> {
  const wallet = await makeWallet(origin, own.secret, 5)
  await makeCoupon(wallet)
  return wallet
}

async function wrongCodes({ takes }: (typeof places)[number]): Promise<string[]> {
  const otherKinds = (Object.keys(good) as CredentialKind[]).filter((kind) => !takes.includes(kind))
  const right = await good[takes[0]!]!()
  const dead = takes.map((kind) => unknownCredential(kind))
  const spelt = [
    breakChecksum(right),
    right.toUpperCase(),
    right.slice(0, -1),
    `${right}0`,
    ` ${right}`,
    `${right} `,
    right.slice(0, 3),
  ]
  return [...(await Promise.all(otherKinds.map((kind) => good[kind]!()))), ...dead, ...spelt, 'open sesame', '%00', '\u{1f600}']
}

describe('a code in a body', () => {
  for (const place of places) {
    test(`${place.op}: is accepted for every tenant, and every invalid one is rejected with the same message`, async () => {
      for (const tenant of [own, other]) {
        for (const kind of place.takes) {
          const answer = await send(place.op, tenant, place.body(await good[kind]!(), tenant))
          assert.ok(answer.status < 300, `${kind}: ${answer.status} ${answer.text}`)
        }
      }
      const isSummon = place.op === 'summonSession'
      let face: unknown
      for (const code of await wrongCodes(place)) {
        const answer = await send(place.op, other, place.body(code, other))
        // The contract publishes the prefix of a summon key.
        if (isSummon && !code.startsWith('sk_')) {
          assert.equal(answer.code, 'invalid_request', code)
          continue
        }
        assert.equal(answer.code, place.else, `${code}: ${answer.text}`)
        face ??= faceOf(answer)
        assert.deepEqual(faceOf(answer), face, code)
      }
    })
  }
})

test('a wallet that is spent is looked up like one that never was', async () => {
  const look = async (code: string) => faceOf(await send('lookUpWallet', own, { wallet_code: code }))
  assert.deepEqual(await look(await emptyWallet()), await look(unknownCredential('walletCode')))
})

test('a license key is not used up by callers whose key is refused', async () => {
  const dead = await makeDeadKeys(origin, own)
  const body = { license_key: await buyLicense(origin, own.secret, 10) }
  const strangers = credentials(own, other, dead, shelf).filter(({ worth }) => worth !== 'publishable' && worth !== 'secret')
  assert.ok(strangers.length > 20)
  for (const { name, headers } of strangers) {
    const { status } = await call(origin, 'POST /v1/wallets/redeem', { headers, body })
    assert.equal(status, 401, name)
  }
  assert.equal((await send('redeemWallet', own, body)).status, 201)
  assert.equal((await send('redeemWallet', other, body)).code, 'already_spent')
})

test("an issuer's balance pays only for its own grants", async () => {
  const [rich, poor] = await Promise.all([makeTenant(origin, 'Rich'), makeTenant(origin, 'Poor')])
  await fundIssuer(origin, rich.secret, 5)
  assert.equal((await send('grantCoupon', poor, { amount: 5 })).code, 'insufficient_credit')
  assert.equal((await send('grantCoupon', rich, { amount: 5 })).status, 201)
})

test('the summon key of a suspended tenant opens nothing until the tenant is active again', async () => {
  const tenant = await makeTenant(origin, 'On and off')
  const key = await armRoom(origin, tenant, await makeAgent(origin, tenant))
  const summon = () => send('summonSession', own, { summon_key: key })
  const set = (status: string) => askGood(origin, `POST /v1/tenants/${tenant.id}/status`, { operator: true, body: { status } })
  await set('suspended')
  assert.equal((await summon()).code, 'tenant_suspended')
  assert.ok(errorCodesOf(operations.summonSession).includes('tenant_suspended'), 'the contract says so')
  await set('active')
  assert.equal((await summon()).status, 201)
  assert.equal((await summon()).code, 'state_conflict', 'one session at a time')
})

test('what is for issuers is refused to a tenant that is only an app', async () => {
  const { data } = await askGood(origin, 'POST /v1/tenants', { operator: true, body: { name: 'App', roles: ['app'] } })
  const ofIssuers = servedOperations.filter(({ role }) => role === 'issuer')
  assert.ok(ofIssuers.length >= 2)
  for (const { id, method, path, example } of ofIssuers) {
    const options = { key: data.secret_key, idempotencyKey: randomUUID(), body: example!.body }
    assert.equal((await call(origin, `${method} /v1${path}`, options)).code, 'issuer_role_required', id)
  }
  const prefund = { ...operations.createCheckout.example.body, purpose: 'prefund' }
  const refused = await call(origin, 'POST /v1/checkout', { key: data.secret_key, body: prefund })
  assert.equal(refused.code, 'issuer_role_required')
})

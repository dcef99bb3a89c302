import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createRemoteJWKSet, decodeJwt, jwtVerify, type JWK } from 'jose'
import { send } from '#testing/http.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { auditLedger } from '../ledger/audit-store.ts'

let world: SessionWorld
before(async () => {
  world = await startSessionWorld()
})
after(() => world.close())

interface Listed {
  id: string
  receipt: string
  kind: string
  amount: number
  created_at: string
}

async function receipts(query = '', key = world.tenant.secretKey): Promise<Listed[]> {
  const got = await send(world.api, 'GET', `/receipts${query}`, { key })
  assert.equal(got.status, 200, got.text)
  return got.body.data
}

const ofPayer = (code: string, more: object = {}) =>
  send(world.api, 'POST', '/receipts/lookup', { key: world.tenant.publishableKey, body: { wallet_code: code, ...more } })

async function runSession(price: number, coupon: string) {
  const agentId = await world.makeAgent({ price_credits: price })
  const { data } = (await world.launch(agentId, world.newRoom(), coupon)).body
  const read = async () => (await world.control('GET', `/sessions/${data.id}`, data.control_token)).body.data
  await eventually(async () => (await read()).joined_at, 'the agent joins')
  await world.control('POST', `/sessions/${data.id}/stop`, data.control_token)
  return read()
}

test('a settled session has a receipt that any JOSE library verifies, with the facts of the session', async () => {
  const coupon = await world.makeCoupon(9)
  const session = await runSession(5, coupon)
  const [first] = await receipts('?limit=1')
  const keys = createRemoteJWKSet(new URL(`${world.api.origin}/.well-known/jwks.json`))
  const issuer = world.api.origin
  const { payload, protectedHeader } = await jwtVerify(first!.receipt, keys, {
    issuer,
    algorithms: ['ES256'],
    typ: 'receipt+jwt',
  })
  const { iat, seq, held_at, ...claims } = payload
  assert.deepEqual(claims, {
    iss: issuer,
    jti: first!.id,
    kind: 'session',
    sub: session.id,
    price: 5,
    charged: 5,
    joined_at: session.joined_at,
    stopped_at: session.stopped_at,
    coupon_sha256: hash('sha256', coupon),
  })
  assert.deepEqual([first!.kind, first!.amount, first!.created_at], ['session', 5, session.stopped_at])
  assert.equal(iat, Math.floor(Date.parse(session.stopped_at) / 1_000))
  assert.ok((seq as number) > 0 && (held_at as string) <= session.joined_at)
  // Its key signs receipts alone.
  const published = (await (await fetch(`${world.api.origin}/.well-known/jwks.json`)).json()) as { keys: JWK[] }
  const { alg, use, d } = published.keys.find(({ kid }) => kid === protectedHeader.kid)!
  assert.deepEqual([alg, use, d], ['ES256', 'sig', undefined])
})

test('a session that is not charged has one too, and a free session has none', async () => {
  const coupon = await world.makeCoupon(9)
  const agentId = await world.makeAgent({ endpoint: 'http://127.0.0.1:9876/agent' })
  const { data } = (await world.launch(agentId, world.newRoom(), coupon)).body
  await world.control('POST', `/sessions/${data.id}/stop`, data.control_token)
  await runSession(0, coupon)
  const mine = (await ofPayer(coupon)).body.data.map(({ receipt }: Listed) => decodeJwt(receipt))
  assert.equal(mine.length, 1)
  const { sub, price, charged, joined_at } = mine[0]
  assert.deepEqual([sub, price, charged, joined_at], [data.id, 5, 0, undefined])
})

test('a payer sees its own receipts, page by page, and nobody else’s; an unknown code has none', async () => {
  const coupon = await world.makeCoupon(20)
  const sessions = [await runSession(3, coupon), await runSession(4, coupon)]
  const first = await ofPayer(coupon, { limit: 1 })
  const second = await ofPayer(coupon, { limit: 1, cursor: first.body.meta.next_cursor })
  const subjects = [first, second].map(({ body }) => decodeJwt(body.data[0].receipt).sub)
  assert.deepEqual(subjects, sessions.map(({ id }) => id).toReversed())
  assert.equal(second.body.meta?.next_cursor, undefined)
  const other = await world.makeCoupon(1)
  assert.deepEqual((await ofPayer(other)).body.data, [])
  for (const unknown of [other.replace(/.$/, '_'), 'cpn_']) assert.deepEqual((await ofPayer(unknown)).body.data, [])
  assert.equal((await ofPayer(other, { cursor: first.body.meta.next_cursor })).body.error.code, 'invalid_cursor')
})

test('a grant and a sale have receipts of their amount', async () => {
  const urls = { success_url: 'https://shop.example', cancel_url: 'https://shop.example' }
  const key = world.tenant.secretKey
  const sale = (await send(world.api, 'POST', '/checkout', { key, body: { purpose: 'license_key', credits: 12, ...urls } })).body
    .data
  await fetch(sale.url, { method: 'POST', body: new URLSearchParams({ do: 'pay' }), redirect: 'manual' })
  const granted = await send(world.api, 'POST', '/wallets/grant', { key, idempotencyKey: randomUUID(), body: { amount: 7 } })
  const [grant, checkout] = (await receipts('?limit=2')).map(({ kind, amount, receipt }) => ({
    kind,
    amount,
    ...decodeJwt(receipt),
  }))
  assert.deepEqual([checkout!.kind, checkout!.amount, checkout!.sub], ['checkout', 12, sale.id])
  assert.deepEqual([grant!.kind, grant!.amount], ['grant', 7])
  assert.equal((grant as Record<string, unknown>)['coupon_sha256'], hash('sha256', granted.body.data.coupon))
  assert.match(grant!.sub!, /^txn_/)
})

test('the numbers of a tenant have no gap, also when many settle at once, and the receipts sum to the ledger', async () => {
  const coupons = await Promise.all(Array.from({ length: 40 }, () => world.makeCoupon(1)))
  assert.equal(new Set(coupons).size, 40)
  const seqs = (await receipts('?limit=200')).map(({ receipt }) => decodeJwt(receipt)['seq'] as number)
  assert.deepEqual(
    seqs.toSorted((a, b) => a - b),
    Array.from(seqs, (_, i) => i + 1),
  )
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})

test('the audit finds a receipt that is missing, or says another amount', async () => {
  const { pool } = world.api.ctx.db
  const falsified = async (sql: string) => {
    const client = await pool.connect()
    try {
      await client.query(`begin; set local session_replication_role = replica; ${sql}`)
      const asked = { query: async (text: { text: string }, values: unknown[]) => (await client.query(text.text, values)).rows }
      return (await auditLedger(asked as never)).findings.map(({ rule }) => rule)
    } finally {
      await client.query('rollback')
      client.release()
    }
  }
  assert.deepEqual(await falsified('update receipts set price = price + 1, charged = charged + 1 where seq = 2'), [
    'receipts sum to the ledger',
  ])
  const old = `update receipts set created_at = created_at - interval '1 hour' where seq = 1`
  const rules = await falsified(`${old}; delete from receipts where seq = 2`)
  assert.deepEqual(new Set(rules), new Set(['receipts sum to the ledger', 'receipt numbers have no gap']))
  await assert.rejects(pool.query('update receipts set charged = 0'), { code: '23001' })
})

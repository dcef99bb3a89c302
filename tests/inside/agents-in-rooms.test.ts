import assert from 'node:assert/strict'
import { createPrivateKey, randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createTestDevice } from '../../packages/identity/src/testing/provider.ts'
import { serveTestProvider, type ServedProvider } from '../../packages/identity/src/testing/serve-provider.ts'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { issuerAccount, platformAccount, transactionId } from '../../packages/server/src/features/credits/ledger/movement.ts'
import { openLedger } from '../../packages/server/src/features/credits/ledger/ledger.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { Vault } from '../../packages/server/src/crypto/vault/vault.ts'
import { freePort, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeTenant, type TestTenant } from '../support/call-api.ts'
import { formsFound } from '../support/find-secrets.ts'
import { dumpTables, queryDatabase } from '../support/query-database.ts'

/** The fields of a room's entry that this test reads. */
interface Entry {
  author: { kind: string; id?: string; name?: string }
  message: { text: string }
}

describe('agents in e-mail rooms', { timeout: 180_000 }, () => {
  let database: TestDatabase
  let idp: ServedProvider
  let atrium: AtriumProcess
  let second: AtriumProcess
  let tenant: TestTenant

  before(async () => {
    database = await createTestDatabase()
    idp = await serveTestProvider({ audience: 'spaces' })
    const [port, spacePort] = [await freePort(), await freePort()]
    // One deployment has one address of each, whichever process does the work.
    const env = {
      OIDC_ISSUER: idp.provider.issuer,
      OIDC_CLIENT_ID: 'spaces',
      ATRIUM_PUBLIC_URL: `http://localhost:${port}`,
      ATRIUM_SPACES_URL: `http://localhost:${spacePort}`,
    }
    ;[atrium, second] = await Promise.all([
      startAtrium({ databaseUrl: database.url, port, space: true, spacePort, env }),
      startAtrium({ databaseUrl: database.url, env }),
    ])
    tenant = await makeTenant(atrium.origin)
    await fund(database.url, tenant.id)
  })

  after(async () => {
    await Promise.all([atrium?.end(), second?.end()])
    idp?.close()
    await database?.drop()
  })

  async function ask(op: string, fields: object): Promise<{ status: number; body: any }> {
    const res = await fetch(`${atrium.origin}/v1/space`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ op, ...fields }),
    })
    return { status: res.status, body: await res.json() }
  }

  async function person(email: string) {
    const { spk, nonce } = await createTestDevice()
    return { idToken: await idp.provider.sign({ email, sub: email, nonce }), spk }
  }

  async function makeAgent(): Promise<string> {
    const body = { name: 'Scribe', description: 'Echoes.', instructions: '', price_credits: 1, max_minutes: 30 }
    const { data } = await call(atrium.origin, 'POST /agents', { key: tenant.secret, body })
    await call(atrium.origin, `PUT /agents/${data.id}/status`, { key: tenant.secret, body: { status: 'active' } })
    return data.id
  }

  async function launch(agentId: string, room: object) {
    const grant = { key: tenant.secret, idempotencyKey: randomUUID(), body: { amount: 1 } }
    const { coupon } = (await call(atrium.origin, 'POST /v1/wallets/grant', grant)).data as unknown as { coupon: string }
    const body = { agent_id: agentId, room, coupon }
    return call(atrium.origin, 'POST /v1/sessions', { key: tenant.secret, idempotencyKey: randomUUID(), body })
  }

  test('an agent comes only when its owner put it on the list, is named by its id, and goes when it is taken off', async () => {
    const [owner, ada] = [await person('owner@example.com'), await person('ada@example.com')]
    const room = { room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') }
    assert.equal((await ask('create', { ...room, policy: 'email', allow: ['ada@example.com'], ...owner })).status, 200)
    const agentId = await makeAgent()
    const early = await launch(agentId, room)
    assert.deepEqual([early.status, early.code], [403, 'not_authorized'])
    assert.equal(JSON.parse(early.text).error.reason, 'not_on_list')

    assert.equal((await ask('admit', { ...room, agents: [agentId], ...owner })).status, 200)
    const launched = await launch(agentId, room)
    assert.equal(launched.status, 201, launched.text)
    const { id, control_token: token } = launched.data as unknown as { id: string; control_token: string }
    assert.equal((await ask('turn', { ...room, ...ada, message: { text: 'Who is here?' } })).status, 200)
    const answer = await eventually(async () => {
      const { entries } = (await ask('poll', { ...room, ...ada })).body as { entries: Entry[] }
      return entries.find(({ author }) => author.kind === 'agent')
    })
    assert.deepEqual([answer.author.id, answer.author.name], [agentId, 'Scribe'])

    assert.equal((await ask('expel', { ...room, agents: [agentId], ...owner })).status, 200)
    const ended = await eventually(async () => {
      const headers = { authorization: `Bearer ${token}` }
      const { data } = await call(atrium.origin, `GET /sessions/${id}`, { headers })
      return data.status === 'running' || data.status === 'launching' ? undefined : data
    })
    assert.equal(ended.status, 'failed')
    assert.equal((await launch(agentId, room)).status, 403)
  })

  test('all processes sign with one key, which is in no table and no log in the clear', async () => {
    const keysOf = async ({ origin }: AtriumProcess) => (await call(origin, 'GET /.well-known/jwks.json')).text
    const [ours, theirs] = await Promise.all([keysOf(atrium), keysOf(second)])
    assert.equal(ours, theirs)
    const { keys } = JSON.parse(ours) as { keys: { kid: string; n?: string; x?: string }[] }
    const rows = await queryDatabase<{ id: string; purpose: string; private_sealed: Buffer }>(
      database.url,
      'select id, purpose, private_sealed from platform_keys',
    )
    const everywhere = [await dumpTables(database.url), atrium.output(), second.output(), ours].join('\n')
    for (const { id, purpose, private_sealed: sealed } of rows) {
      const place = { tenant: 'platform', table: 'platform_keys', column: 'private_sealed', row: `${purpose} ${id}` } as const
      const secret = new Vault([Buffer.alloc(32, 7)]).open(sealed, place)
      assert.deepEqual(formsFound(everywhere, secret), [], purpose)
      if (purpose !== 'agent_tokens') continue
      const jwk = createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })
      assert.ok(keys.some(({ n }) => n === jwk.n))
      assert.ok(everywhere.includes(jwk.n!), 'what is public can be found')
      for (const part of [jwk.d, jwk.p, jwk.q, jwk.dp, jwk.dq, jwk.qi])
        assert.deepEqual(formsFound(everywhere, Buffer.from(part!, 'base64url')), [])
    }
    assert.equal(rows.filter(({ purpose }) => purpose === 'agent_tokens').length, 1)
  })
})

async function fund(databaseUrl: string, tenantId: string): Promise<void> {
  const db = openDatabase({ url: databaseUrl, maxConnections: 1, onConnectionError: () => undefined })
  const [id, to] = [transactionId('test', randomUUID()), issuerAccount(tenantId)]
  const transfer = { type: 'transfer', kind: 'prefund', from: platformAccount, to, amountCredits: 100, actor: tenantId } as const
  assert.equal(await openLedger(db).add({ ...transfer, id }), 'posted')
  await db.close()
}

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 15_000
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    assert.ok(Date.now() < deadline, 'in time')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

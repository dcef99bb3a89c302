import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { compactDecrypt } from 'jose'
import type { ErrorBody } from '../../packages/contract/src/errors.ts'
import type { AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call, makeTenant, type Answer, type TestTenant } from '../support/call-api.ts'
import { buyLicense, grantCoupon } from '../support/credits.ts'
import { fundIssuer } from '../support/fund-issuer.ts'
import { openCrashWorld, type CrashWorld } from '../support/crash-world.ts'
import { queryDatabase } from '../support/query-database.ts'
import { makeAgent, newRoom } from '../support/sessions.ts'

let world: CrashWorld
let atrium: AtriumProcess
before(async () => {
  world = await openCrashWorld()
  atrium = await world.start()
})
after(async () => {
  await atrium.end('SIGKILL')
  await world.close()
})

/** Operations that move credits without an Idempotency-Key: one attempt, and what must be true after a second one. */
interface Attempt {
  tenant: TestTenant
  run: () => Promise<unknown>
  holds: () => Promise<void>
}

const lookUp = ({ publishable }: TestTenant, code: string): Promise<Answer> =>
  call(atrium.origin, 'POST /v1/wallets/lookup', { key: publishable, body: { wallet_code: code } })

async function countAccounts({ id }: TestTenant, kind: string): Promise<{ count: number; credits: number }> {
  const sql = `select count(*)::integer as count, coalesce(sum(balance), 0)::integer as credits
    from ledger_accounts where tenant_id = $1 and kind = $2`
  const [row] = await queryDatabase<{ count: number; credits: number }>(world.database.url, sql, [id, kind])
  return row!
}

async function redeemAttempt(): Promise<Attempt> {
  const tenant = await makeTenant(atrium.origin)
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const license = await buyLicense(atrium.origin, tenant.secret, 60)
  const body = { license_key: license, recovery_key: publicKey.export({ format: 'jwk' }) }
  const run = () => call(atrium.origin, 'POST /v1/wallets/redeem', { key: tenant.publishable, body })
  const codeIn = async ({ status, text, data }: Answer): Promise<string> => {
    if (status === 201) return data.wallet_code
    const { error } = JSON.parse(text) as ErrorBody
    assert.equal(error.code, 'already_spent', text)
    const { plaintext } = await compactDecrypt(error.details![0]!.sealed!, privateKey)
    return new TextDecoder().decode(plaintext)
  }
  const holds = async () => {
    const answers = [...(await Promise.all([run(), run()])), await run()]
    assert.ok(answers.filter(({ status }) => status === 201).length <= 1)
    const codes = new Set(await Promise.all(answers.map(codeIn)))
    assert.equal(codes.size, 1, 'each answer tells of the same wallet')
    const { data, text } = await lookUp(tenant, [...codes][0]!)
    assert.deepEqual(data, { balance: 60, held: 0, currency: 'credits' }, text)
    assert.deepEqual(await countAccounts(tenant, 'wallet'), { count: 1, credits: 60 })
    assert.deepEqual(await countAccounts(tenant, 'license'), { count: 1, credits: 0 })
  }
  return { tenant, run, holds }
}

/** The form of the test page. A concurrent second payment would wait for the platform's account. */
async function payAttempt(): Promise<Attempt> {
  const tenant = await makeTenant(atrium.origin)
  const back = 'https://shop.example/'
  const body = { purpose: 'license_key', credits: 60, success_url: back, cancel_url: back }
  const { data } = await askGood(atrium.origin, 'POST /v1/checkout', { key: tenant.secret, body })
  const pay = () => fetch(data.url, { method: 'POST', body: new URLSearchParams({ do: 'pay' }), redirect: 'manual' })
  const look = () => askGood(atrium.origin, `GET /v1/checkout/${data.id}`, { key: tenant.secret })
  const holds = async () => {
    for (const { status } of [...(await Promise.all([pay(), pay()])), await pay()]) assert.equal(status, 303)
    assert.deepEqual(await countAccounts(tenant, 'license'), { count: 1, credits: 60 })
    const [first, second] = [await look(), await look()]
    assert.deepEqual([first.data.status, second.data.status, second.data.license_key], ['paid', 'paid', undefined])
    const options = { key: tenant.publishable, body: { license_key: first.data.license_key } }
    assert.equal((await askGood(atrium.origin, 'POST /v1/wallets/redeem', options)).status, 201)
  }
  return { tenant, run: pay, holds }
}

/** A session of an agent that costs 5 of the coupon's 8 credits, and that has joined or not. */
async function stopAttempt(joined: boolean): Promise<Attempt> {
  const tenant = await makeTenant(atrium.origin)
  await fundIssuer(atrium.origin, tenant.secret, 8)
  const coupon = await grantCoupon(atrium.origin, tenant.secret, 8)
  const agentId = await makeAgent(atrium.origin, tenant, { endpoint: undefined, price_credits: 5 })
  const body = { agent_id: agentId, room: newRoom(), coupon }
  const options = { key: tenant.secret, idempotencyKey: randomUUID(), body }
  const { id, control_token: key } = (await askGood(atrium.origin, 'POST /v1/sessions', options)).data
  // No worker runs here that would bring the agent into the room.
  if (joined)
    await queryDatabase(world.database.url, `update sessions set status = 'running', joined_at = now() where id = $1`, [id])
  const run = () => call(atrium.origin, `POST /sessions/${id}/stop`, { key })
  const charged = joined ? 5 : 0
  const holds = async () => {
    const answers = [...(await Promise.all([run(), run()])), await run()]
    for (const { status, data } of answers) assert.deepEqual([status, data], [200, { sessionId: id, status: 'stopped' }])
    const { data } = await askGood(atrium.origin, `GET /sessions/${id}`, { key })
    assert.deepEqual([data.status, data.charged_credits], ['stopped', charged])
    assert.deepEqual((await lookUp(tenant, coupon)).data, { balance: 8 - charged, held: 0, currency: 'credits' })
    assert.deepEqual(await countAccounts(tenant, 'revenue'), { count: joined ? 1 : 0, credits: charged })
    const ends = await queryDatabase(
      world.database.url,
      `select e.outcome, e.captured::integer from ledger_hold_ends e join ledger_holds h on h.tenant_id = e.tenant_id and h.id = e.id
       where h.purpose = $1`,
      [id],
    )
    assert.deepEqual(ends, [{ outcome: joined ? 'captured' : 'released', captured: charged }])
  }
  return { tenant, run, holds }
}

const attempts: Record<string, () => Promise<Attempt>> = {
  'redeem a license key': redeemAttempt,
  'pay for a license key': payAttempt,
  'stop after the agent joined': () => stopAttempt(true),
  'stop before it did': () => stopAttempt(false),
}

/** Its keys are looked up and a connection is open before, because neither is part of the interrupted operation. */
async function warm({ tenant }: Attempt): Promise<void> {
  for (const key of [tenant.secret, tenant.publishable])
    await call(atrium.origin, 'POST /v1/collections', { key, body: 'not json' })
}

async function learnStatements(): Promise<Map<string, string[]>> {
  const learnt = new Map<string, string[]>()
  for (const [name, prepare] of Object.entries(attempts)) {
    const attempt = await prepare()
    await warm(attempt)
    world.proxy.takeStatements()
    await attempt.run()
    const statements = world.proxy.takeStatements()
    assert.equal(statements.at(-1), 'commit', name)
    learnt.set(name, statements)
    await attempt.holds()
  }
  return learnt
}

/** Brings each operation to its own point with the same number, on its own connections, and kills the server. */
async function killAt(when: 'before' | 'after', nth: number, statements: Map<string, string[]>): Promise<[string, Attempt][]> {
  const interrupted: [string, Attempt][] = []
  // All preparations come before the first pause, because the server waits only a limited time for a statement.
  for (const [name, prepare] of Object.entries(attempts))
    if (nth <= statements.get(name)!.length) interrupted.push([name, await prepare()])
  const lost: Promise<unknown>[] = []
  for (const [name, attempt] of interrupted) {
    await warm(attempt)
    const stands = world.proxy.hold({ nth, when })
    const unanswered = assert.rejects(attempt.run(), `${name} ${when} ${nth}: no answer can come`)
    lost.push(unanswered)
    const stood = await Promise.race([stands, unanswered])
    const last = world.proxy.takeStatements().slice(-nth).join('\n')
    assert.equal(stood, statements.get(name)![nth - 1], `${name}: statement ${nth}, after\n${last}`)
  }
  await atrium.end('SIGKILL')
  await Promise.all(lost)
  world.proxy.release()
  return interrupted
}

async function assertSoundBooks(point: string): Promise<void> {
  const { data } = await askGood(atrium.origin, 'GET /v1/operator/audit', { operator: true })
  assert.deepEqual(data.findings, [], point)
}

test(
  'a kill before or after any statement moves credits once or not at all, and whoever tries again gets what is theirs',
  { timeout: 900_000 },
  async (t) => {
    const statements = await learnStatements()
    const longest = Math.max(...[...statements.values()].map((own) => own.length))
    let points = 0
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; nth <= longest; nth++) {
        const interrupted = await killAt(when, nth, statements)
        atrium = await world.start()
        const point = `killed ${when} statement ${nth}`
        await assertSoundBooks(point)
        for (const [name, attempt] of interrupted) {
          points++
          await attempt.holds().catch((error: unknown) => {
            throw new Error(`${name} ${point}`, { cause: error })
          })
        }
        await assertSoundBooks(`${point}, and tried again`)
      }
    }
    t.diagnostic(`${points} kill points`)
  },
)

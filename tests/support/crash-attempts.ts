import { createHash } from 'node:crypto'
import { call, makeCollection, makeTenant, type Answer, type AnswerData, type CallOptions } from './call-api.ts'
import { grantCoupon } from './credits.ts'
import { fundIssuer } from './fund-issuer.ts'
import { epochBody } from './matrix-world.ts'
import { makeAgent, newRoom } from './sessions.ts'

/** One request, and how often its effect may exist afterwards. */
export interface Attempt {
  route: string
  options: CallOptions
  /** Of the answer; 201 if absent. */
  status?: number
  /** Counts that must all be 1; parameter $1 is the mark. */
  effects: string[]
  mark: string
  /** Whether the contents of the answer work. */
  works: (origin: string, data: AnswerData) => Promise<Answer>
}

let made = 0
const newMark = () => `mark-${process.pid}-${++made}`
const showTenant = (origin: string, data: AnswerData) => call(origin, 'GET /v1/tenant', { key: data.secret_key })

/**
 * Every operation that creates something or returns a secret once. Each attempt uses things of its own, so that none
 * waits for another.
 */
export const attempts: Record<string, (origin: string) => Promise<Attempt>> = {
  signUpTenant: async (origin) => {
    const mark = newMark()
    const { data } = await call(origin, 'POST /v1/tenants/invites', { operator: true, body: {} })
    const codeHash = createHash('sha256').update(data.invite_code).digest('hex')
    const body = { invite_code: data.invite_code, name: mark, email: 'ada@harbour.example' }
    const effects = [
      'select count(*) from tenants where name = $1',
      'select count(*) / 2.0 from api_keys k join tenants t on t.id = k.tenant_id where t.name = $1',
      `select 1 - uses_left from invites where code_hash = decode('${codeHash}', 'hex') and $1 <> ''`,
    ]
    return { route: 'POST /v1/tenants/signup', options: { body }, mark, effects, works: showTenant }
  },
  createTenant: async () => {
    const mark = newMark()
    const effects = [
      'select count(*) from tenants where name = $1',
      'select count(*) / 2.0 from api_keys k join tenants t on t.id = k.tenant_id where t.name = $1',
    ]
    return { route: 'POST /v1/tenants', options: { operator: true, body: { name: mark } }, mark, effects, works: showTenant }
  },
  createInvite: async () => {
    const uses = 1_000 + ++made
    const effects = ['select count(*) from invites where uses_left in ($1::integer, $1::integer - 1)']
    const works = (origin: string, data: AnswerData) => {
      const body = { invite_code: data.invite_code, name: 'Guest', email: 'guest@harbour.example' }
      return call(origin, 'POST /v1/tenants/signup', { body, idempotencyKey: `works-${uses}` })
    }
    return { route: 'POST /v1/tenants/invites', options: { operator: true, body: { uses } }, mark: String(uses), effects, works }
  },
  createOperatorCredential: async () => {
    const mark = newMark()
    const effects = [
      'select count(*) from operator_credentials where name = $1',
      `select count(*) from audit_log a join operator_credentials c on a.targets->>'id' = c.id where c.name = $1`,
    ]
    const works = (origin: string, data: AnswerData) =>
      call(origin, 'GET /v1/operator/credentials', { headers: { 'x-admin-token': data.token } })
    return { route: 'POST /v1/operator/credentials', options: { operator: true, body: { name: mark } }, mark, effects, works }
  },
  createKey: async (origin) => {
    const { secret } = await makeTenant(origin)
    return keyAttempt(secret, {}, [])
  },
  rotateKey: async (origin) => {
    const { secret } = await makeTenant(origin)
    const keys = await call(origin, 'GET /v1/tenant/keys', { key: secret })
    const old = (keys.data as unknown as { id: string; kind: string }[]).find(({ kind }) => kind === 'secret')!.id
    const ended = `select count(*) from api_keys where id = '${old}' and expires_at between now() + '59 min' and now() + '61 min' and $1 <> ''`
    return keyAttempt(secret, { rotates: old, overlap_seconds: 3_600 }, [ended])
  },
  createCollection: async (origin) => {
    const mark = newMark()
    const { publishable: key } = await makeTenant(origin)
    const works = (origin: string, { id, admin_token: token }: AnswerData) =>
      call(origin, `GET /v1/collections/${id}/items`, { key, token })
    const body = { metadata: { mark }, contributor_policy: 'token' }
    const effects = [`select count(*) from collections where metadata->>'mark' = $1`]
    return { route: 'POST /v1/collections', options: { key, body }, mark, effects, works }
  },
  addItem: async (origin) => {
    const mark = newMark()
    const { publishable: key } = await makeTenant(origin)
    const { id, token } = await makeCollection(origin, key)
    const works = (origin: string, item: AnswerData) => call(origin, `GET /v1/collections/${id}/items/${item.id}`, { key, token })
    const effects = [
      `select count(*) from items where content->>'mark' = $1`,
      `select item_count from collections where id = '${id}' and $1 <> ''`,
      `select last_seq from collections where id = '${id}' and $1 <> ''`,
    ]
    const body = { type: 'message', content: { mark } }
    return { route: `POST /v1/collections/${id}/items`, options: { key, body }, mark, effects, works }
  },
  rotateCollectionTokens: async (origin) => {
    const mark = newMark()
    const { secret: key } = await makeTenant(origin)
    const made = await call(origin, 'POST /v1/collections', { key, body: { metadata: { mark }, contributor_policy: 'token' } })
    const { id, admin_token: old } = made.data
    const oldHash = createHash('sha256').update(old).digest('hex')
    const works = (origin: string, { admin_token: token }: AnswerData) =>
      call(origin, `GET /v1/collections/${id}/items`, { key, token })
    const effects = [
      `select count(*) from collections where metadata->>'mark' = $1 and admin_token_hash <> decode('${oldHash}', 'hex')`,
      eventsOf('collection.updated', 'collection_id', id),
    ]
    const body = { rotate: ['admin_token', 'contributor_token'] }
    return { route: `POST /v1/collections/${id}/tokens`, options: { key, body }, mark, effects, works }
  },
  curateItems: async (origin) => {
    const mark = newMark()
    const { publishable: key } = await makeTenant(origin)
    const { id, token } = await makeCollection(origin, key)
    const add = () => call(origin, `POST /v1/collections/${id}/items`, { key, token, body: { type: 'message', content: {} } })
    const ids = [(await add()).data.id, (await add()).data.id, (await add()).data.id]
    const works = (origin: string) => call(origin, `GET /v1/collections/${id}/items/${ids[0]}`, { key, token })
    const effects = [
      `select item_count from collections where id = '${id}' and $1 <> ''`,
      `select count(*) / 2.0 from items where collection_id = '${id}' and archived and $1 <> ''`,
      eventsOf('item.updated', 'item_id', ids[0]!),
      eventsOf('item.updated', 'item_id', ids[1]!),
    ]
    const body = { ids: ids.slice(0, 2), patch: { archived: true } }
    return { route: `POST /v1/collections/${id}/items/bulk`, options: { key, token, body }, status: 200, mark, effects, works }
  },
  createArtifact: async (origin) => {
    const mark = newMark()
    const { publishable: key } = await makeTenant(origin)
    const { id, token } = await makeCollection(origin, key)
    const works = (origin: string) => call(origin, `GET /v1/collections/${id}/artifacts`, { key, token })
    const body = { kind: 'image', url: 'https://pictures.example/a.webp', title: mark }
    const effects = ['select count(*) from artifacts where title = $1']
    return { route: `POST /v1/collections/${id}/artifacts`, options: { key, token, body }, mark, effects, works }
  },
  registerAgent: async (origin) => {
    const mark = newMark()
    const { secret: key } = await makeTenant(origin)
    const works = (origin: string, { id }: AnswerData) => call(origin, `GET /agents/${id}`, { key })
    const endpoint = 'https://agents.example/lamplighter'
    const body = { name: mark, description: 'd', instructions: '', endpoint, price_credits: 0, max_minutes: 30 }
    return {
      route: 'POST /agents',
      options: { key, body },
      mark,
      effects: ['select count(*) from agents where name = $1'],
      works,
    }
  },
  createCheckout: async (origin) => {
    const mark = `https://shop.example/${newMark()}`
    const { secret: key } = await makeTenant(origin)
    const works = (origin: string, { id }: AnswerData) => call(origin, `GET /v1/checkout/${id}`, { key })
    const body = { purpose: 'license_key', credits: 60, success_url: mark, cancel_url: mark }
    const effects = ['select count(*) from checkouts where success_url = $1']
    return { route: 'POST /v1/checkout', options: { key, body }, mark, effects, works }
  },
  publishEpoch: async (origin) => {
    const value = 1_000 + ++made
    const { secret: key } = await makeTenant(origin)
    const works = (origin: string, { epoch }: AnswerData) => call(origin, `GET /v1/epochs/${epoch}`)
    const effects = ['select count(*) from epochs where value = $1::bigint']
    const body = { ...epochBody(), value }
    return { route: 'POST /v1/epochs', options: { key, body }, mark: String(value), effects, works }
  },
  grantCoupon: async (origin) => {
    const mark = newMark()
    const { id, secret: key } = await makeTenant(origin)
    await fundIssuer(origin, key, 100)
    const works = (origin: string, { coupon }: AnswerData) =>
      call(origin, 'POST /v1/wallets/lookup', { key, body: { wallet_code: coupon } })
    const effects = [
      `select count(*) from ledger_transfers where kind = 'grant' and memo = $1`,
      `select count(*) from ledger_accounts where kind = 'coupon' and balance = 5 and origin_tenant_id = '${id}' and $1 <> ''`,
      `select count(*) from ledger_accounts where id = 'issuer' and balance = 95 and tenant_id = '${id}' and $1 <> ''`,
    ]
    return { route: 'POST /v1/wallets/grant', options: { key, body: { amount: 5, memo: mark } }, mark, effects, works }
  },
  launchSession: async (origin) => {
    const { key, body, mark } = await readyToLaunch(origin)
    return { route: 'POST /v1/sessions', options: { key, body }, mark, effects: launchEffects, works: showSession }
  },
  summonSession: async (origin) => {
    const { key, body, mark } = await readyToLaunch(origin)
    const armed = await call(origin, 'POST /v1/sessions', { key, idempotencyKey: `arm ${mark}`, body: { ...body, arm: true } })
    const summon = { summon_key: armed.data.summon_key }
    return { route: 'POST /sessions/summon', options: { body: summon }, mark, effects: launchEffects, works: showSession }
  },
}

const showSession = (origin: string, { id, control_token: key }: AnswerData) => call(origin, `GET /sessions/${id}`, { key })

/** What is needed to launch an agent for 5 of 8 credits. The mark is the room. */
async function readyToLaunch(origin: string) {
  const mark = newMark()
  const tenant = await makeTenant(origin)
  const { secret: key } = tenant
  await fundIssuer(origin, key, 8)
  const coupon = await grantCoupon(origin, key, 8)
  const agentId = await makeAgent(origin, tenant, { endpoint: undefined, price_credits: 5 })
  return { key, mark, body: { agent_id: agentId, room: { ...newRoom(), room: mark }, coupon } }
}

/** How often an event was recorded, with or without its number. */
function eventsOf(type: string, name: string, id: string): string {
  const where = `where type = '${type}' and data->>'${name}' = '${id}' and $1 <> ''`
  return `select (select count(*) from event_outbox ${where}) + (select count(*) from events ${where}) as count`
}

/** One session, one hold, and the rest of the coupon. */
const launchedHere = `from sessions s where s.status <> 'armed' and s.room = $1`
const launchEffects = [
  `select count(*) ${launchedHere}`,
  `select count(*) from ledger_holds where purpose in (select s.id ${launchedHere})`,
  `select count(*) from ledger_accounts where kind = 'coupon' and balance = 3
     and (tenant_id, id) in (select s.payer_tenant_id, s.payer_id ${launchedHere})`,
]

function keyAttempt(secret: string, more: object, effects: string[]): Attempt {
  const mark = newMark()
  const works = (origin: string, { key }: AnswerData) => call(origin, 'GET /v1/tenant', { key })
  const options = { key: secret, body: { kind: 'secret', name: mark, ...more } }
  return {
    route: 'POST /v1/tenant/keys',
    options,
    mark,
    effects: ['select count(*) from api_keys where name = $1', ...effects],
    works,
  }
}

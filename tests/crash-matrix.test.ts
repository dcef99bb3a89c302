import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../packages/server/src/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call, makeCollection, makeTenant, type Answer, type AnswerData, type CallOptions } from './support/call-api.ts'
import { startPostgresProxy, type PostgresProxy } from './support/postgres-proxy.ts'
import { queryDatabase } from './support/query-database.ts'

/** One request, and how often its effect may be found afterwards. */
interface Attempt {
  route: string
  options: CallOptions
  /** Counts that must all be 1; parameter $1 is the mark. */
  effects: string[]
  mark: string
  /** Whether what the answer gave is good for anything. */
  works: (origin: string, data: AnswerData) => Promise<Answer>
}

let made = 0
const newMark = () => `mark-${process.pid}-${++made}`
const showTenant = (origin: string, data: AnswerData) => call(origin, 'GET /v1/tenant', { key: data.secret_key })

/** Every operation that makes something or gives a secret once. Each attempt has things of its own, so that none waits for another. */
const operations: Record<string, (origin: string) => Promise<Attempt>> = {
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
  createArtifact: async (origin) => {
    const mark = newMark()
    const { publishable: key } = await makeTenant(origin)
    const { id, token } = await makeCollection(origin, key)
    const works = (origin: string) => call(origin, `GET /v1/collections/${id}/artifacts`, { key, token })
    const body = { kind: 'image', url: 'https://pictures.example/a.webp', title: mark }
    const effects = ['select count(*) from artifacts where title = $1']
    return { route: `POST /v1/collections/${id}/artifacts`, options: { key, token, body }, mark, effects, works }
  },
}

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

let database: TestDatabase
let proxy: PostgresProxy
let atrium: AtriumProcess
let port: number
before(async () => {
  database = await createTestDatabase()
  proxy = await startPostgresProxy(database.url)
  port = await freePort()
  atrium = await startAtrium({ databaseUrl: proxy.url, port })
})
after(async () => {
  await atrium.end('SIGKILL')
  await proxy.close()
  await database.drop()
})

const send = ({ route, options, mark }: Attempt) => call(atrium.origin, route, { ...options, idempotencyKey: mark })

/** Runs each once to learn its statements. Keys that were never seen are looked up first: that read is no part of the operation. */
async function learnStatements(): Promise<Map<string, string[]>> {
  const learnt = new Map<string, string[]>()
  for (const [name, prepare] of Object.entries(operations)) {
    const attempt = await prepare(atrium.origin)
    await warm(attempt)
    proxy.takeStatements()
    assert.equal((await send(attempt)).status, 201, name)
    learnt.set(name, proxy.takeStatements())
  }
  return learnt
}

async function warm({ options: { key } }: Attempt): Promise<void> {
  if (key) await call(atrium.origin, 'POST /v1/collections', { key, body: 'not json' })
}

/** Brings every operation to its own point of the same number, each on a connection of its own, and kills the server there. */
async function killAt(
  when: 'before' | 'after',
  nth: number,
  statements: Map<string, string[]>,
): Promise<[string, Attempt, boolean][]> {
  const standing: [string, Attempt, boolean][] = []
  const lost: Promise<unknown>[] = []
  for (const [name, prepare] of Object.entries(operations)) {
    const own = statements.get(name)!
    if (nth > own.length) continue
    const attempt = await prepare(atrium.origin)
    await warm(attempt)
    const stands = proxy.hold({ nth, when })
    lost.push(assert.rejects(send(attempt), /no answer/, `${name} ${when} ${nth}: no answer can come`))
    assert.equal(await stands, own[nth - 1], `${name}: statement ${nth}`)
    standing.push([name, attempt, when === 'after' && nth === own.length])
  }
  await atrium.end('SIGKILL')
  await Promise.all(lost)
  proxy.release()
  return standing
}

async function assertOneEffect(name: string, attempt: Attempt, answers: Answer[]): Promise<void> {
  const [first, ...others] = answers as [Answer, ...Answer[]]
  assert.equal(first.status, 201, `${name}: ${first.text}`)
  for (const other of others)
    assert.deepEqual([other.status, other.text], [first.status, first.text], `${name}: the same answer each time`)
  for (const effect of attempt.effects) {
    const rows = await queryDatabase(database.url, effect, [attempt.mark])
    assert.equal(Number(Object.values(rows[0] ?? {})[0]), 1, `${name}: ${effect}`)
  }
  const used = await attempt.works(atrium.origin, first.data)
  assert.ok(used.status < 300, `${name}: what the answer gave works: ${used.status} ${used.text}`)
}

test('a kill before or after any statement loses nothing, does nothing twice, and a retry gives the one answer', async (t) => {
  const statements = await learnStatements()
  for (const [name, own] of statements) {
    assert.ok(own.length >= 2, name)
    if (name !== 'addItem') assert.equal(own.at(-1), 'commit', `${name} commits last`)
  }
  const longest = Math.max(...[...statements.values()].map((own) => own.length))
  let points = 0
  for (const when of ['before', 'after'] as const) {
    for (let nth = 1; nth <= longest; nth++) {
      const acknowledged = new Map<Attempt, Answer>()
      for (const prepare of Object.values(operations)) {
        const attempt = await prepare(atrium.origin)
        acknowledged.set(attempt, await send(attempt))
      }
      const standing = await killAt(when, nth, statements)
      points += standing.length
      atrium = await startAtrium({ databaseUrl: proxy.url, port })
      for (const [attempt, seen] of acknowledged) await assertOneEffect('acknowledged', attempt, [seen, await send(attempt)])
      for (const [name, attempt, committed] of standing) {
        const point = `${name} killed ${when} statement ${nth}`
        const retries = await Promise.all([send(attempt), send(attempt)])
        await assertOneEffect(point, attempt, [...retries, await send(attempt)])
        const stored = retries.filter(({ headers }) => headers['idempotency-status'] === 'stored').length
        assert.equal(
          stored,
          committed ? 0 : 1,
          `${point}: ${committed ? 'was done, so that a retry replays' : 'was not done, so that one retry does it'}`,
        )
      }
    }
  }
  t.diagnostic(`${points} kill points`)
})

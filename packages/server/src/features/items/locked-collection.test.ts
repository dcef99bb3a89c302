import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { passesOnce } from '#testing/busy-machine.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

const item = { type: 'm', content: 1 }

interface Locked {
  add: (options?: Partial<Parameters<typeof send>[3]>) => ReturnType<typeof send>
  contributor: string
  owner: string
  /** Ends the other transaction. */
  free: () => Promise<unknown>
}

/** A collection to which only tokens add, while another transaction holds its row. */
async function withLocked(run: (made: Locked) => Promise<void>) {
  const key = tenant.publishableKey
  const { data } = (await send(api, 'POST', '/collections', { key, body: { contributor_policy: 'token' } })).body
  const holder = await api.ctx.db.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select from collections where id = $1 for no key update', [data.id])
    await run({
      add: (options = {}) => send(api, 'POST', `/collections/${data.id}/items`, { key, body: item, ...options }),
      contributor: data.contributor_token,
      owner: data.admin_token,
      free: () => holder.query('commit'),
    })
  } finally {
    await holder.query('rollback')
    holder.release()
  }
}

/** On a busy machine, the requests that wait for the row may not be answered before their time is over. */
const passesWithLocked = (run: (made: Locked) => Promise<void>) => passesOnce(() => withLocked(run))

test('of a collection whose row is locked, callers without access are refused at once, and others wait', () =>
  passesWithLocked(async ({ add, contributor, owner, free }) => {
    const addWith = async (collectionToken?: string) => (await add(collectionToken ? { collectionToken } : {})).status
    const { publishableKey: stranger } = await api.makeTenant()
    const waiting = Promise.all([addWith(contributor), addWith(owner)])
    // Some find the lock taken. Those that follow find out that others wait for it.
    for (let round = 0; round < 3; round++) {
      assert.deepEqual(await Promise.all([addWith(), addWith(tenant.secretKey), addWith('cct_x')]), [403, 403, 403])
    }
    assert.equal((await add({ key: stranger })).status, 404)
    await free()
    assert.deepEqual(await waiting, [201, 201])
  }))

test('while a request waits, a repeat without its token is refused at once, and learns nothing of it', () =>
  passesWithLocked(async ({ add, contributor, free }) => {
    const idempotencyKey = randomUUID()
    let isAnswered = false
    const first = add({ idempotencyKey, collectionToken: contributor }).finally(() => (isAnswered = true))
    for (const deadline = Date.now() + 5_000; api.ctx.itemAdder.waitingCount === 0; await delay(1))
      assert.ok(Date.now() < deadline, 'the first request waits')
    for (const body of [item, { ...item, content: 2 }])
      for (const access of [{}, { collectionToken: 'cct_x' }, { collectionToken: tenant.secretKey }]) {
        const repeat = await add({ idempotencyKey, body, ...access })
        const { code } = repeat.body.error
        const told = ['idempotency-status', 'idempotency-expires', 'retry-after'].filter((name) => repeat.headers.has(name))
        assert.deepEqual([repeat.status, code, told], [403, 'contributor_token_required', []])
      }
    assert.equal(isAnswered, false, 'the first request still waits')
    await free()
    const stored = await first
    assert.deepEqual([stored.status, stored.headers.get('idempotency-status')], [201, 'stored'])
    const replayed = await add({ idempotencyKey, collectionToken: contributor })
    assert.deepEqual([replayed.text, replayed.headers.get('idempotency-status')], [stored.text, 'replayed'])
  }))

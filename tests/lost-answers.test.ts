import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { servedOperations } from '../packages/contract/src/table.ts'
import { loseAnswer } from './support/lose-answer.ts'
import { call, untilKeyEnded } from './support/call-api.ts'
import { lostAnswers } from './support/lost-answer-cases.ts'
import { openShelfWorld, type ShelfWorld } from './support/shelf-world.ts'

let world: ShelfWorld
before(async () => {
  world = await openShelfWorld()
})
after(async () => {
  await world.close()
})

/** The operations that return a secret once or bill, for which a lost answer has a cost. */
const costly = servedOperations.filter(
  (op) => Object.values(op.answers).some((answer) => answer.oneTimeSecret) || op.idempotency === 'required',
)

test('each operation that shows a secret once or bills has a way back, which is tried here and listed in the decision', async () => {
  const covered = new Set(lostAnswers.map(({ id }) => id))
  assert.deepEqual(
    costly.map(({ id }) => id).filter((id) => !covered.has(id)),
    [],
    'add a case to tests/support/lost-answer-cases.ts',
  )
  const page = await readFile(new URL('../docs/decisions/0017-lost-answers.md', import.meta.url), 'utf8')
  for (const { id, way } of lostAnswers) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${id}\``))
    assert.ok(row?.includes(way), `docs/decisions/0017-lost-answers.md: ${id}: ${way}`)
  }
})

describe(
  'when the socket is cut after the commit and before the answer, the caller can still get the result',
  { concurrency: 4 },
  () => {
    for (const { id, name, way, prepare } of lostAnswers) {
      test(`${id}${name ? ` (${name})` : ''}: ${way}`, async () => {
        const { route, options, recover } = await prepare(world)
        await loseAnswer(world.origin, route, options)
        await recover()
      })
    }
  },
)

describe('an expired key returns only the stored answer of its own rotation', () => {
  const idempotencyKey = 'rotation of 22 November'
  const rotate = async () => {
    const { data } = await call(world.origin, 'POST /v1/tenants', { operator: true, body: { name: 'Rotates' } })
    const key = data.secret_key
    const keys = (await call(world.origin, 'GET /v1/tenant/keys', { key })).data as unknown as { id: string; kind: string }[]
    const body = { kind: 'secret', rotates: keys.find(({ kind }) => kind === 'secret')!.id }
    const answer = await call(world.origin, 'POST /v1/tenant/keys', { key, idempotencyKey, body })
    await untilKeyEnded(world.origin, key)
    return { key, body, answer }
  }
  const ask = (key: string, body: object, more: object = {}) =>
    call(world.origin, 'POST /v1/tenant/keys', { key, idempotencyKey, body, ...more })

  test('not with another Idempotency-Key, another body, none, from a browser, or at another operation', async () => {
    const { key, body, answer } = await rotate()
    assert.equal((await ask(key, body)).text, answer.text)
    const refused = [
      ask(key, body, { idempotencyKey: 'rotation of 23 November' }),
      ask(key, body, { idempotencyKey: undefined }),
      ask(key, { kind: 'secret' }),
      ask(key, { nonsense: true }),
      ask(key, body, { headers: { 'sec-fetch-site': 'same-origin' } }),
      call(world.origin, 'POST /v1/wallets/grant', { key, idempotencyKey, body: { amount: 1 } }),
    ]
    const codes = (await Promise.all(refused)).map(({ code }) => code)
    const unauthorized = Array<string>(4).fill('unauthorized')
    assert.deepEqual(codes, [...unauthorized, 'secret_key_in_browser', 'unauthorized'])
  })

  test('not where the tenant is suspended, nor with a short Idempotency-Key', async () => {
    const { key, body, answer } = await rotate()
    const { data } = await call(world.origin, 'GET /v1/tenant', { key: answer.data.key })
    const second = { kind: 'secret', rotates: answer.data.id }
    const short = { idempotencyKey: 'short' }
    const rotated = await ask(answer.data.key, second, short)
    assert.equal(rotated.status, 201, rotated.text)
    await untilKeyEnded(world.origin, answer.data.key)
    assert.equal((await ask(answer.data.key, second, short)).code, 'unauthorized')
    await call(world.origin, `POST /v1/tenants/${data.id}/status`, { operator: true, body: { status: 'suspended' } })
    for (const deadline = Date.now() + 16_000; ;) {
      const { code } = await ask(key, body)
      if (code === 'unauthorized') break
      assert.ok(Date.now() < deadline, 'suspension reaches it within 15 s')
    }
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { errorCodesOf } from '../packages/contract/src/error-codes.ts'
import { errors } from '../packages/contract/src/errors.ts'
import type { Operation } from '../packages/contract/src/operation.ts'
import { operations, servedOperations } from '../packages/contract/src/table.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import type { AtriumProcess } from './support/atrium-process.ts'
import { askGood, call, callUntilServed, makeTenant, type Answer, type TestTenant } from './support/call-api.ts'
import { deepWallet } from './support/credits.ts'
import { faceOf } from './support/face-of.ts'
import { mapConcurrently } from './support/map-concurrently.ts'
import {
  capabilities,
  controlCredentials,
  credentials,
  expectedOutcome,
  keyRefusal,
  targets,
  type CapabilityCase,
  type Credential,
  type Target,
} from './support/matrix-cells.ts'
import {
  bodyFor,
  makeDeadKeys,
  makeShelf,
  paramNames,
  pathTo,
  signatureOf,
  sessionFor,
  startForShelves,
  type DeadKeys,
  type Shelf,
} from './support/matrix-world.ts'

import { expectedRefusal, makeVisitors, reachesAll, refusalIn, roleCells, thingsOf } from './support/role-cells.ts'

const width = 24

let database: TestDatabase
let atrium: AtriumProcess
let origin: string
let own: TestTenant
let other: TestTenant
let shelf: Shelf
let sibling: Shelf
let foreign: Shelf
let gone: Shelf
let dead: DeadKeys
before(async () => {
  database = await createTestDatabase()
  atrium = await startForShelves(database.url)
  origin = atrium.origin
  ;[own, other] = await Promise.all([makeTenant(origin, 'Own'), makeTenant(origin, 'Other')])
  ;[shelf, sibling, gone, foreign, dead] = await Promise.all([
    makeShelf(origin, own),
    makeShelf(origin, own),
    makeShelf(origin, own, { ownEndpoint: true }),
    makeShelf(origin, other),
    makeDeadKeys(origin, own),
  ])
  // One at a time, so that each is deleted directly and not with its parent.
  const path = `/v1/collections/${gone.things.collection}`
  for (const part of [`/items/${gone.things.item}`, `/artifacts/${gone.things.artifact}`, '']) {
    await askGood(origin, `DELETE ${path}${part}`, { key: own.secret, token: gone.owner })
  }
  await askGood(origin, `POST /sessions/${gone.things.session}/stop`, { key: gone.control })
  await askGood(origin, `DELETE /v1/tenant/webhooks/endpoints/${gone.things.webhookEndpoint}`, { key: own.secret })
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
})

interface Cell {
  op: Operation
  who: Credential
  held: CapabilityCase
  target: Target
}

/**
 * All cells. If the key is refused whatever the token is, only the cells with and without the owner token. A malformed
 * id is recognised by its form alone. So one form is tried with every key and token, and the others only with the keys
 * that pass, with and without the owner token.
 */
function cellsOf(op: Operation): Cell[] {
  const tokens = capabilities(shelf, sibling, foreign)
  const strongest = tokens.filter(({ worth, token }) => worth === 'owner' || token === undefined)
  const controls = op.caller === 'control' ? controlCredentials(shelf, sibling, foreign, gone) : []
  return [...credentials(own, other, dead, shelf), ...controls].flatMap((who) =>
    targets(op, shelf, sibling, foreign, gone).flatMap((target) => {
      // That would be a tenant and its own thing.
      if (who.other && target.name.startsWith("other tenant's")) return []
      const isFurtherForm = target.is === 'malformed' && !target.name.startsWith('malformed (x) ')
      if (isFurtherForm && keyRefusal(op, who)) return []
      const passes = who.worth === 'publishable' || who.worth === 'secret'
      return (passes && op.capability && !isFurtherForm ? tokens : strongest).map((held) => ({ op, who, held, target }))
    }),
  )
}

const nameOf = ({ op, who, held, target }: Cell) => `${op.id} with ${who.name}, ${held.name}, on ${target.name}`
const expectedOf = ({ op, who, held, target }: Cell) => expectedOutcome(op, who, held, target)

/** Sends the request. If it will succeed and change what its path names, it gets things of its own. */
async function send(cell: Cell): Promise<Answer> {
  const { op, who, held, target } = cell
  const changes = op.method !== 'GET' && paramNames(op).length > 0 && expectedOf(cell) === 'done'
  const copy = changes ? await ownCopy(cell) : undefined
  const token = copy ? copy.token : held.token
  const headers = {
    ...who.headers,
    ...(copy && who.worth === 'control' ? { authorization: `Bearer ${copy.shelf.control}` } : {}),
    ...(copy && who.worth === 'agent control' ? { authorization: `Bearer ${copy.shelf.agentControl}` } : {}),
    ...(token === undefined ? {} : { 'x-collection-token': token }),
    ...(op.idempotency === 'required' ? { 'idempotency-key': randomUUID() } : {}),
  }
  const body = await bodyFor(op, origin, copy?.shelf ?? shelf)
  const signed = { ...headers, ...signatureOf(op, body) }
  return callUntilServed(origin, `${op.method} ${pathTo(op, copy?.shelf.things ?? target.things, origin)}`, {
    headers: signed,
    body,
  })
}

async function ownCopy({ op, held }: Cell) {
  const tenant = op.caller === 'operator' ? await makeTenant(origin, 'To change') : own
  const ownEndpoint = op.id === 'deleteWebhookEndpoint'
  const fresh = await makeShelf(origin, tenant, { session: sessionFor(op), ownEndpoint })
  return {
    shelf: fresh,
    token: held.worth === 'owner' ? fresh.owner : held.worth === 'contributor' ? fresh.contributor : held.token,
  }
}

function outcomeOf(op: Operation, { status, code }: Answer): string {
  if (code !== undefined) return `${status} ${code}`
  return op.answers[status] && status < 400 ? 'done' : `${status}`
}

function sayExpected(op: Operation, cell: Cell): string {
  const outcome = expectedOf(cell)
  if (outcome === 'done') return 'done'
  // The share page and the wall say so as a page.
  return op.id === 'renderCollection' || op.id === 'renderWall' ? '404' : `${errors[outcome].status} ${outcome}`
}

/** The state of everything that the cells name, as its owners see it. */
async function snapshot(): Promise<unknown> {
  const parties = [
    [own, shelf],
    [own, sibling],
    [other, foreign],
  ] as const
  const views = parties.flatMap(([tenant, { things, owner }]) =>
    ['', '/items', '/artifacts'].map(
      (view) => [`GET /v1/collections/${things.collection}${view}`, tenant.secret, owner] as const,
    ),
  )
  const seen = await Promise.all(views.map(([route, key, token]) => askGood(origin, route, { key, token })))
  const tenants = await Promise.all([own, other].map(({ secret }) => askGood(origin, 'GET /v1/tenant', { key: secret })))
  const agents = await Promise.all(
    parties.map(([{ secret }, { things }]) => askGood(origin, `GET /agents/${things.agent}`, { key: secret })),
  )
  const sessions = await Promise.all(
    parties.map(([, { things, control }]) => askGood(origin, `GET /sessions/${things.session}`, { key: control })),
  )
  return [...seen, ...tenants, ...agents, ...sessions].map(({ text }) => text)
}

describe('every operation × every credential × every thing', () => {
  for (const op of servedOperations.filter(({ flatErrors }) => !flatErrors)) {
    test(`${op.method} ${op.path}`, async (t) => {
      const before = await snapshot()
      const wrong: string[] = []
      const faces = new Map<string, unknown>()
      const cells = cellsOf(op)
      const declared: readonly string[] = errorCodesOf(op)
      await mapConcurrently(cells, width, async (cell) => {
        const answer = await send(cell)
        const [got, expected] = [outcomeOf(op, answer), sayExpected(op, cell)]
        if (got !== expected) wrong.push(`${nameOf(cell)}: ${got} ${answer.text}, expected ${expected}`)
        if (answer.code && !declared.includes(answer.code)) wrong.push(`${nameOf(cell)}: ${answer.code} is not declared`)
        // For one caller with one token, all answers about things of others must look alike, except for the kind of
        // the missing thing.
        if (cell.target.is !== 'own' && expected !== 'done') {
          // An id that is malformed is recognised by its form alone.
          const form = cell.target.is === 'malformed' ? cell.target.name : ''
          const group = `${cell.who.name}, ${cell.held.name}, ${expected}, ${form}`
          if (!faces.has(group)) faces.set(group, faceOf(answer))
          if (!isDeepStrictEqual(faceOf(answer), faces.get(group)))
            wrong.push(`${nameOf(cell)} can be told from others: ${answer.status} ${answer.text.slice(0, 200)}`)
        }
      })
      t.diagnostic(`${cells.length} requests`)
      assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} wrong`)
      assert.deepEqual(await snapshot(), before, 'nothing that was refused left a trace')
    })
  }
})

test('a collection with an open policy accepts items from everyone with the key, with any token or none', async () => {
  const open = await makeShelf(origin, own, { policy: 'open', session: false })
  const body = operations.addItem.example.body
  for (const { name, token } of capabilities({ ...open, contributor: sibling.contributor }, sibling, foreign)) {
    const headers = token === undefined ? {} : { 'x-collection-token': token }
    const path = `/v1/collections/${open.things.collection}/items`
    assert.equal((await call(origin, `POST ${path}`, { key: own.publishable, headers, body })).status, 201, name)
    const answer = await call(origin, `POST ${path}`, { key: other.publishable, headers, body })
    assert.deepEqual([answer.status, answer.code], [404, 'not_found'], name)
  }
})

test('a wrong token returns no more than no token', async () => {
  const path = `/v1/collections/${shelf.things.collection}`
  const see = async (what: string, token: string | undefined) =>
    (await call(origin, `GET ${path}${what}`, { key: own.publishable, ...(token === undefined ? {} : { token }) })).text
  for (const what of ['', '/artifacts']) {
    const [asOwner, asNobody] = [await see(what, shelf.owner), await see(what, undefined)]
    assert.notEqual(asOwner, asNobody)
    for (const { name, token, worth } of capabilities(shelf, sibling, foreign)) {
      assert.equal(await see(what, token), worth === 'owner' ? asOwner : asNobody, `${what} with ${name}`)
    }
  }
})

test('a cursor is good for the list that gave it, and for no other', async () => {
  const key = own.secret
  const list = (shelf: Shelf, what: string) => `GET /v1/collections/${shelf.things.collection}/${what}?limit=1`
  const item = operations.addItem.example.body
  const artifact = operations.createArtifact.example.body
  const otherShelf = await makeShelf(origin, other, { session: false })
  for (const [tenant, to] of [
    [own, shelf],
    [own, sibling],
    [other, otherShelf],
  ] as const) {
    const options = { key: tenant.secret, token: to.owner }
    await askGood(origin, `POST /v1/collections/${to.things.collection}/items`, { ...options, body: item })
    await askGood(origin, `POST /v1/collections/${to.things.collection}/artifacts`, { ...options, body: artifact })
  }
  const cursorOf = async (what: string) => {
    const { text } = await askGood(origin, list(shelf, what), { key, token: shelf.owner })
    return (JSON.parse(text) as { meta: { next_cursor: string } }).meta.next_cursor
  }
  const cursors = { items: await cursorOf('items'), artifacts: await cursorOf('artifacts') }
  const page = (tenant: TestTenant, of: Shelf, what: string, cursor: string) =>
    call(origin, `${list(of, what)}&cursor=${encodeURIComponent(cursor)}`, { key: tenant.secret, token: of.owner })
  for (const what of ['items', 'artifacts'] as const) {
    const wrongList = what === 'items' ? 'artifacts' : 'items'
    assert.equal((await page(own, shelf, what, cursors[what])).status, 200)
    const refused = {
      'of another collection': await page(own, sibling, what, cursors[what]),
      'of another tenant': await page(other, otherShelf, what, cursors[what]),
      'of the other list': await page(own, shelf, wrongList, cursors[what]),
    }
    for (const [name, { status, code }] of Object.entries(refused))
      assert.deepEqual([status, code], [400, 'invalid_cursor'], `${what}: ${name}`)
    const { status, code } = await page(other, shelf, what, cursors[what])
    assert.deepEqual([status, code], [404, 'not_found'], 'nor does it open the collection that it came from')
  }
})

test('an Idempotency-Key of one tenant brings another nothing of it', async () => {
  const idempotencyKey = 'the same for all'
  const calls = [
    ['POST /v1/collections', { contributor_policy: 'token' }],
    ['POST /v1/tenant/keys', { kind: 'secret' }],
    ['POST /v1/checkout', operations.createCheckout.example.body],
    ['POST /v1/wallets/grant', { amount: 1, wallet_code: await deepWallet(origin, own) }],
  ] as const
  for (const [route, body] of calls) {
    const first = await askGood(origin, route, { key: own.secret, idempotencyKey, body })
    const second = await askGood(origin, route, { key: other.secret, idempotencyKey, body })
    assert.equal(second.headers['idempotency-status'], 'stored', route)
    assert.notEqual(second.text, first.text)
    const changed = await call(origin, route, { key: other.secret, idempotencyKey, body: { ...body, name: 1 } })
    assert.equal(changed.text.includes(first.data.id ?? first.data.coupon), false)
  }
  const path = `POST /v1/collections/${shelf.things.collection}/items`
  const body = operations.addItem.example.body
  await askGood(origin, path, { key: own.secret, token: shelf.owner, idempotencyKey, body })
  const replay = await call(origin, path, { key: other.secret, token: shelf.owner, idempotencyKey, body })
  assert.deepEqual([replay.status, replay.code], [404, 'not_found'], 'nor is a replay a way around the refusal')
  const withoutToken = await call(origin, path, { key: own.publishable, idempotencyKey, body })
  assert.deepEqual([withoutToken.status, withoutToken.code], [403, 'contributor_token_required'])
})

test('every operation × every role of the console × things of one’s own, of another tenant and of nobody', async (t) => {
  const visitors = await makeVisitors(origin, own)
  const served = servedOperations.filter(({ flatErrors }) => !flatErrors)
  const cells = served.flatMap((op) => roleCells(op, visitors))
  const wrong: string[] = []
  await mapConcurrently(cells, width, async (cell) => {
    const { op, who, target } = cell
    const headers = { ...who.headers, ...(op.idempotency === 'required' ? { 'idempotency-key': randomUUID() } : {}) }
    const expected = expectedRefusal(op, who)
    // A body that cannot be reused is made only where it is read.
    const body = expected === undefined ? await bodyFor(op, origin, shelf) : op.example?.body
    const path = pathTo(op, thingsOf(cell, shelf, foreign), origin)
    const answer = await call(origin, `${op.method} ${path}`, { headers: { ...headers, ...signatureOf(op, body) }, body })
    const name = `${op.id} as ${who.name} on ${target}`
    if (refusalIn(answer) !== expected) wrong.push(`${name}: ${answer.status} ${answer.text}, expected ${expected}`)
    const isForeign = target !== 'own' && !(reachesAll(op) && target === "another tenant's")
    if (expected === undefined && isForeign && answer.status !== 404) wrong.push(`${name}: ${answer.status} ${answer.text}`)
    if (expected === undefined && target === 'own' && op.caller !== 'anyone' && answer.status >= 400)
      wrong.push(`${name}: ${answer.status} ${answer.text}, expected success`)
    if (answer.code && !(errorCodesOf(op) as string[]).includes(answer.code))
      wrong.push(`${name}: ${answer.code} is not declared`)
  })
  t.diagnostic(`${cells.length} requests`)
  assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} wrong`)
})

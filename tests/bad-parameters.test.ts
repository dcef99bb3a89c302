import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '../packages/contract/src/limits.ts'
import type { Operation } from '../packages/contract/src/operation.ts'
import { servedOperations } from '../packages/contract/src/table.ts'
import { assertDetailed, assertRefused } from './support/assert-refused.ts'
import { adminToken } from './support/atrium-process.ts'
import { call, type Answer, type CallOptions, type TestTenant } from './support/call-api.ts'
import { bodyFor, pathTo, type Shelf } from './support/matrix-world.ts'
import { exchange, requestText } from './support/raw-http.ts'
import { openConsole } from './support/role-cells.ts'
import { openShelfWorld, type ShelfWorld } from './support/shelf-world.ts'

let world: ShelfWorld
let origin: string
let tenant: TestTenant
let shelf: Shelf
/** The headers of an owner in the console, for what no key may do. */
let owner: Record<string, string>
before(async () => {
  world = await openShelfWorld()
  ;({ origin, tenant, shelf } = world)
  owner = await openConsole(origin, tenant.id)
})
after(() => world.close())

async function send(op: Operation, query: string, options: CallOptions = {}): Promise<Answer> {
  const path = pathTo(op, shelf.things, origin)
  const route = `${op.method} ${path}${query && (path.includes('?') ? '&' : '?')}${query}`
  const isKeyless = op.caller === 'anyone' || op.sessionOnly
  const caller = op.caller === 'operator' ? { operator: true } : isKeyless ? {} : { key: tenant.secret }
  if (op.sessionOnly) Object.assign(caller, { headers: owner })
  return call(origin, route, { ...caller, token: shelf.owner, body: await bodyFor(op, origin, shelf), ...options })
}

interface QuerySchema {
  type: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  enum?: string[]
  format?: string
}

/** RFC 3339 allows these, and PostgreSQL does not. */
const noTimesOfTheDatabase = ['0000-01-01T00:00:00Z', '0000-12-31T23:59:59.999Z', '0001-01-01T00:00:00+14:00']

/** The time and the id at the end of a cursor. */
const forgedPart = /:\d{4}-\d\d-\d\dT\S+ \S+$/

/** Values of a query parameter that its schema does not allow. */
function wrongQueryValues({
  type,
  minimum = -Infinity,
  maximum = Infinity,
  minLength = 0,
  maxLength = Infinity,
  enum: values,
  format,
}: QuerySchema): string[] {
  if (type === 'integer') {
    return [
      `${minimum - 1}`,
      `${maximum + 1}`,
      '-1',
      '1.5',
      'abc',
      '',
      'null',
      'true',
      'NaN',
      'Infinity',
      '1e400',
      '1,2',
      '9007199254740993',
      '%00',
      '1%00',
      '%EF%BC%95',
      '--1',
      '0x',
    ]
  }
  return [
    ...(values ? ['', 'x', otherCase(values[0]!), '%00'] : []),
    ...(minLength > 0 ? [''] : []),
    ...(maxLength < 10_000 ? ['x'.repeat(maxLength + 1)] : []),
    ...(format === 'date-time' ? ['', 'x', '2026-11-20', ...noTimesOfTheDatabase.map(encodeURIComponent)] : []),
  ]
}

function otherCase(text: string): string {
  return text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase()
}

/** Whether the operation ignores unknown parameters, because services append some to a shared link. */
const isOpen = ({ query }: Operation) => query !== undefined && !('additionalProperties' in query)

describe('a query that breaks its schema is refused, and the parameter is named', () => {
  for (const op of servedOperations.filter((op) => op.query)) {
    test(op.id, async () => {
      assert.equal((await send(op, '')).status, Number(Object.keys(op.answers)[0]))
      for (const [name, schema] of Object.entries(op.query!.properties as unknown as Record<string, QuerySchema>)) {
        const repeated = `${name}=${schema.enum?.[0] ?? 1}&${name}=${schema.enum?.[0] ?? 1}`
        for (const query of [
          ...wrongQueryValues(schema).map((value) => `${name}=${value}`),
          repeated,
          ...(isOpen(op) ? [] : [`${name}[]=1`, `${name}[a]=1`]),
        ]) {
          const { details } = assertRefused(await send(op, query), 'invalid_request', query.slice(0, 100))
          assert.ok(
            details?.some(({ path }) => path.replace(/^\//, '').startsWith(name)),
            `${query.slice(0, 100)}: ${JSON.stringify(details)}`,
          )
        }
      }
      for (const query of ['unknown=1', 'Limit=1', '__proto__=1', 'constructor=1', 'toString=1', '=1', '%00=1']) {
        const answer = await send(op, query)
        if (isOpen(op)) assert.equal(answer.status, Number(Object.keys(op.answers)[0]), query)
        else assertRefused(answer, 'invalid_request', query.slice(0, 100))
      }
      if (isOpen(op)) return
      for (const query of ['%', '%zz=1', 'unknown=%zz', '%ff=1', 'unknown=%ed%a0%80']) {
        assertRefused(await send(op, query), 'invalid_request', query)
      }
      const many = Array.from({ length: 2_000 }, (_, n) => `a${n}=1`).join('&')
      assertRefused(await send(op, many), ['invalid_request', 'headers_too_large'], 'a great many parameters')
    })
  }
})

test('a cursor is accepted only unchanged', async () => {
  for (const [op, add] of [
    ['listItems', 'addItem'],
    ['listArtifacts', 'createArtifact'],
  ] as const) {
    const find = (id: string) => servedOperations.find((op) => op.id === id)!
    const list = (cursor?: string) => send(find(op), `limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`)
    await send(find(add), '')
    const { text } = await list()
    const { next_cursor: cursor } = (JSON.parse(text) as { meta: { next_cursor: string } }).meta
    assert.equal((await list(encodeURIComponent(cursor))).status, 200)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet.indexOf(cursor.at(-1)!)
    const sameBytes = [1, 2, 3].map((bits) => cursor.slice(0, -1) + alphabet[last ^ bits])
    const written = [
      `${cursor}=`,
      `${cursor}==`,
      `${cursor}%0A`,
      `%20${cursor}`,
      `${cursor}%20`,
      `${cursor}.`,
      `${cursor}%00`,
      `${cursor.slice(0, 8)}%0A${cursor.slice(8)}`,
    ]
    const others = [
      cursor.slice(0, -1),
      cursor.slice(1),
      cursor + cursor,
      `${cursor}A`,
      cursor.toLowerCase(),
      cursor.toUpperCase(),
      'x',
      'AAAA',
      '%C3%A9',
      "'--",
      'null',
      '0',
      Buffer.from('{"v":1,"seq":0}').toString('base64url'),
    ]
    for (const bad of [...sameBytes, ...written, ...others]) {
      if (bad === cursor) continue
      assertRefused(
        await list(bad),
        bad.includes('%00') ? ['invalid_cursor', 'invalid_request'] : 'invalid_cursor',
        `${op}: ${bad} for ${cursor}`,
      )
    }
    // An invented cursor may be refused, or be a position in the caller's own list. It never causes a 500.
    const flipped = Array.from(cursor, (letter, at) => cursor.slice(0, at) + (letter === 'A' ? 'B' : 'A') + cursor.slice(at + 1))
    const text0 = Buffer.from(cursor, 'base64url').toString('latin1')
    const numbers = [
      '-1',
      '1e3',
      '1.5',
      '',
      ' 1',
      '+1',
      '0x1',
      'NaN',
      'null',
      '9223372036854775807',
      '9223372036854775808',
      '9'.repeat(100),
      "1'--",
      '1\0',
    ]
    const forged = numbers.map((number) => Buffer.from(text0.replace(/\d+$/, number), 'latin1').toString('base64url'))
    for (const made of [...flipped, ...forged]) {
      const answer = await list(made)
      if (answer.status !== 200) assertRefused(answer, 'invalid_cursor', `${op}: ${made}, made of ${cursor}`)
    }
    for (const bad of ['', 'x'.repeat(501)])
      assertRefused(await list(bad), ['invalid_cursor', 'invalid_request'], `${op}: ${bad}`)
    assertRefused(await list(`${cursor}&cursor=${cursor}`), 'invalid_request', 'twice')
    assertDetailed(await list('x'), op)
  }
})

test('a time or an id that the database does not have is refused in a cursor, and such a time in a body as well', async () => {
  const find = (id: string) => servedOperations.find((op) => op.id === id)!
  const { text } = await send(find('listKeys'), 'limit=1')
  const { next_cursor: cursor } = (JSON.parse(text) as { meta: { next_cursor: string } }).meta
  const made = Buffer.from(cursor, 'base64url').toString()
  assert.match(made, forgedPart)
  for (const position of [
    '0000-12-31T23:59:59.999Z x',
    '2023-02-31T00:00:00.000Z x',
    '2023-02-29T00:00:00.000Z x',
    '2023-04-31T00:00:00.000Z x',
    '2023-04-30T24:00:00.000Z x',
    '2023-04-30T00:00:00.000Z \0',
    '2023-04-30T00:00:00.000Z x\0x',
  ]) {
    const forged = Buffer.from(made.replace(forgedPart, `:${position}`)).toString('base64url')
    assertRefused(await send(find('listKeys'), `cursor=${forged}`), 'invalid_cursor', position)
  }
  const byBytes = Buffer.from('stored bytes:1 x\0').toString('base64url')
  assertRefused(await send(find('listStorage'), `cursor=${byBytes}`), 'invalid_cursor', 'listStorage')
  for (const since of noTimesOfTheDatabase)
    assertRefused(await send(find('recoverDeliveries'), '', { body: { since } }), 'invalid_request', since)
})

test('an Idempotency-Key is 1 to 255 printable ASCII characters', async () => {
  const bad: Record<string, string> = {
    empty: '',
    'a space, which HTTP takes off': ' ',
    'too long': 'a'.repeat(limits.idempotencyKeyLength + 1),
    'far too long': 'a'.repeat(10_000),
    'a tab': 'a\tb',
    'Latin-1': 'caf\u00e9',
    'UTF-8': Buffer.from('caf\u00e9\u{1f600}').toString('latin1'),
  }
  for (const op of servedOperations.filter((op) => op.idempotency)) {
    for (const [name, idempotencyKey] of Object.entries(bad)) {
      const headers = { 'idempotency-key': idempotencyKey }
      const { details } = await refusedRaw(op, headers, name)
      assert.ok(
        details?.some(({ path }) => /idempotency-key/i.test(path)),
        JSON.stringify(details),
      )
    }
  }

  /** Node's own client would not send all of them. */
  async function refusedRaw(op: Operation, headers: Record<string, string>, what: string) {
    const good = await bodyFor(op, origin, shelf)
    const body = good === undefined ? '' : JSON.stringify(good)
    const bearer = op.caller === 'control' ? shelf.control : tenant.secret
    const caller = op.caller === 'operator' ? `X-Admin-Token: ${adminToken}` : `Authorization: Bearer ${bearer}`
    const session = Object.entries(owner).map(([name, value]) => `${name}: ${value}`)
    const lines = [
      ...(op.sessionOnly ? session : [caller]),
      `X-Collection-Token: ${shelf.owner}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const { answers } = await exchange(
      origin,
      requestText(`${op.method} ${pathTo(op, shelf.things, origin)}`, [...lines, ...more], body),
      { quietMs: 0 },
    )
    return assertRefused(answers[0]!, 'invalid_request', `${op.id}: ${what}`)
  }
})

test('an error does not repeat all of a long name', async () => {
  const name = 'x'.repeat(5_000)
  for (const op of servedOperations.filter((op) => op.query && !isOpen(op))) {
    assertRefused(
      await send(op, `${name}=1`),
      'invalid_request',
      `${op.id}: a parameter with a name of ${name.length} characters`,
    )
  }
})

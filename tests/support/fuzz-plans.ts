import fc, { type Arbitrary } from 'fast-check'
import { bent, fitting, nasty } from './fuzz-values.ts'
import type { DescribedOperation } from './openapi-operations.ts'

/** A request without the parts that depend on the state: `@kind:n` is replaced by the nth object of that kind. */
export interface Plan {
  op: DescribedOperation
  caller: 'right' | 'none' | 'publishable' | 'secret' | 'other' | 'broken'
  token: 'owner' | 'contributor' | 'none' | 'other' | 'broken'
  thing: 'living' | 'gone' | 'random' | 'malformed'
  /** Which of them. */
  pick: number
  query: [name: string, value: string][]
  headers: Record<string, string>
  /** The text of the body. */
  body: string | undefined
  contentType: string
}

/** Weights: more is created than deleted, so that the world does not become empty. */
const weights: Record<string, number> = {
  createCollection: 4,
  addItem: 8,
  createArtifact: 4,
  curateArtifact: 3,
  curateItem: 3,
  deleteCollection: 1,
  setCollectionState: 1,
  signUpTenant: 1,
  createTenant: 1,
  createInvite: 1,
  getOembed: 2,
  createKey: 2,
  registerAgent: 4,
  launchSession: 6,
  stopSession: 1,
}

export function plans(operations: DescribedOperation[]): Arbitrary<Plan> {
  return fc.oneof(...operations.map((op) => ({ weight: weights[op.id] ?? 2, arbitrary: plansOf(op) })))
}

function plansOf(op: DescribedOperation): Arbitrary<Plan> {
  const mostly = <Good, Other>(good: Good, ...others: Other[]) =>
    fc.oneof({ weight: 8, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: fc.constantFrom(...others) })
  const inQuery = op.parameters.filter((one) => one.in === 'query')
  const inHeaders = op.parameters.filter((one) => one.in === 'header')
  const goodQuery = fc.record(Object.fromEntries(inQuery.map(({ name, schema }) => [name, fitting(schema, name)])), {
    requiredKeys: inQuery.filter((one) => one.required).map(({ name }) => name),
  })
  const badQuery = fc.dictionary(
    fc.oneof(fc.constantFrom('limit', 'cursor', 'url', 'a'), fc.string()),
    fc.oneof(fc.string({ unit: 'binary' }), nasty.map(String)),
    { maxKeys: 3 },
  )
  const headerText = fc.oneof(
    fc.stringMatching(/^[\x20-\x7e]{0,300}$/),
    fc.stringMatching(/^[\x80-\xff]{1,20}$/),
    fc.constantFrom('', 'a', 'b', 'c'),
  )
  return fc.record({
    op: fc.constant(op),
    caller: mostly('right', 'none', 'publishable', 'secret', 'other', 'broken'),
    token: mostly('owner', 'contributor', 'none', 'other', 'broken'),
    thing: mostly('living', 'gone', 'gone', 'gone', 'random', 'malformed'),
    pick: fc.nat(10_000),
    query: fc
      .oneof({ weight: 8, arbitrary: goodQuery }, { weight: 1, arbitrary: badQuery })
      .map((query) => Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])),
    headers: fc.record(
      Object.fromEntries(
        inHeaders.map(({ name, schema }) => [
          name,
          name === 'Idempotency-Key'
            ? fc.oneof({ weight: 4, arbitrary: fc.uuid() }, { weight: 1, arbitrary: headerText })
            : fc.oneof(
                headerText,
                fitting(schema).map((value) => Buffer.from(String(value)).toString('latin1')),
              ),
        ]),
      ),
      { requiredKeys: inHeaders.filter((one) => one.required).map(({ name }) => name) },
    ),
    body: op.body
      ? fc.oneof(
          { weight: 3, arbitrary: fitting(op.body).map((value) => JSON.stringify(value)) },
          { weight: 1, arbitrary: bent(op.body) },
        )
      : fc.constant(undefined),
    contentType: fc.oneof(
      { weight: 30, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/json; charset=utf-8', '', 'a/b') },
    ),
  })
}

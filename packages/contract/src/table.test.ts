import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Operation } from './operation.ts'
import { operations } from './table.ts'

const all = Object.entries<Operation>(operations)

function assertFits(schema: TSchema, value: unknown, what: string): void {
  const validator = Compile(schema)
  assert.ok(validator.Check(value), `${what}: ${JSON.stringify(validator.Errors(value))}`)
}

describe('the table of operations', () => {
  it('names each operation by its id', () => {
    for (const [key, op] of all) assert.equal(op.id, key)
  })

  it('has one operation a method and path', () => {
    const routes = all.map(([, op]) => `${op.method} ${op.path.replace(/\{\w+\}/g, '{}')}`)
    assert.deepEqual(
      routes.filter((route, n) => routes.indexOf(route) !== n),
      [],
    )
  })

  it('declares just the parameters that the path has', () => {
    for (const [id, op] of all) {
      const inPath = [...op.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      assert.deepEqual(Object.keys(op.params?.properties ?? {}).sort(), inPath.sort(), id)
    }
  })

  it('gives each proposed operation except earnings its later status', () => {
    const without = all.filter(([, op]) => op.status === 'proposed' && !op.becomes).map(([id]) => id)
    assert.deepEqual(without, ['getEarnings'])
    for (const [id, op] of all) assert.ok(op.status === 'proposed' || !op.becomes, id)
  })

  it('has an example of each body, and it is valid', () => {
    for (const [id, op] of all) {
      if (!op.body) continue
      assert.ok(op.example?.body !== undefined, `${id} has a body and no example`)
      assertFits(op.body, op.example.body, id)
    }
  })

  it('has an example of each answer that is JSON, and it is valid for one of its statuses', () => {
    for (const [id, op] of all) {
      const schemas = Object.values(op.answers).flatMap(({ data, raw }) => (data && !raw ? [data] : []))
      if (schemas.length === 0) continue
      assert.ok(op.example?.data !== undefined, `${id} answers and has no example`)
      const data = op.example.data
      if (schemas.length === 1) assertFits(schemas[0]!, data, id)
      else
        assert.ok(
          schemas.some((schema) => Compile(schema).Check(data)),
          id,
        )
    }
  })

  it('refuses an undeclared field in every body', () => {
    for (const [id, op] of all) {
      if (op.body) assert.equal(Compile(op.body).Check({ ...(op.example!.body as object), typo_: 1 }), false, id)
    }
  })
})

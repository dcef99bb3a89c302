import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '#testing/processor-block.ts'
import { argumentCheck } from './argument-check.ts'

const object = (properties: Record<string, unknown>, more = {}) => ({ type: 'object', properties, ...more })

test('wrong arguments are told by place', async () => {
  const schema = object({ number: { type: 'integer' } }, { required: ['number'], additionalProperties: false })
  const check = argumentCheck(schema)
  assert.equal(await check({ number: 3 }), undefined)
  assert.match((await check({ number: 'three' }))!, /\/number must be integer/)
  assert.match((await check({ number: 3, more: 1 }))!, /additional properties/)
  for (const args of [{}, null, [], 'x', undefined]) assert.ok(await check(args), JSON.stringify(args))
})

test('a process that stands still during a check, as on a busy machine, refuses nothing', async () => {
  const check = argumentCheck(object({ number: { type: 'integer' } }))
  let hasPaused = false
  const args = {
    get number() {
      if (!hasPaused) {
        hasPaused = true
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150)
      }
      return 3
    },
  }
  assert.equal(await check(args), undefined)
  assert.ok(hasPaused)
})

test('a pattern or a schema that would compute without end is stopped', async () => {
  const pattern = object({ a: { type: 'string', pattern: '^(a+)+$' } })
  const defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` }
      return [`d${i}`, { anyOf: [next, next] }]
    }),
  )
  const doubling = object({ a: { $ref: '#/$defs/d0' } }, { $defs: { ...defs, d40: { type: 'null' } } })
  const endless = object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { $ref: '#/$defs/a' } } })
  for (const schema of [pattern, doubling, endless]) {
    const check = argumentCheck(schema)
    const args = { a: `${'a'.repeat(60)}!` }
    const started = processorMs()
    for (let call = 0; call < 100; call++) assert.match((await check(args))!, /cannot be checked/)
    assert.ok(processorMs() - started < 1_000, 'and not tried again')
  }
  assert.equal(await argumentCheck(object({}))({}), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readablePattern } from './readable-pattern.ts'
import { servedOperations } from './table.ts'

/** The patterns in a schema. */
function patternsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]: [string, unknown]) =>
    name === 'pattern' && typeof child === 'string' ? [child] : patternsOf(child),
  )
}

test('for each pattern of what the API checks, there are words that say what to write', () => {
  // The Space service checks the calls of rooms itself.
  const checked = servedOperations.filter(({ path }) => path !== '/space')
  const patterns = new Set(checked.flatMap(({ params, query, body }) => patternsOf([params, query, body])))
  assert.ok(patterns.size > 10)
  assert.deepEqual(
    [...patterns].filter((pattern) => readablePattern(pattern) === undefined),
    [],
  )
})

test('the words name the characters, their number and the prefix', () => {
  assert.equal(readablePattern('^col_[0-9A-Za-z]{22}$'), 'must be an id: col_ and 22 letters and digits')
  assert.equal(readablePattern('^[0-9a-f]{64}$'), 'must have exactly 64 characters of 0-9 and a-f')
  assert.equal(readablePattern('^[a-z0-9._-]{1,64}$'), 'must have 1 to 64 characters of a-z, 0-9, ".", _ and -')
  assert.equal(readablePattern('^something else$'), undefined)
})

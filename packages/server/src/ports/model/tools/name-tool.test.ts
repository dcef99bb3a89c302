import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameTool } from './name-tool.ts'

test('every name is one that providers take, unlike the others and the same at each start', () => {
  const inputs = [
    ['find'],
    ['find'],
    ['find'],
    ['a.b/c'],
    ['lamps', 'find'],
    ['9lives'],
    ['-x'],
    ['__proto__'],
    ['constructor'],
    ['x'.repeat(90)],
    ['x'.repeat(91)],
    ['漢'],
  ]
  const name = () => {
    const taken = new Set<string>()
    return inputs.map((parts) => nameTool(parts, taken))
  }
  const names = name()
  for (const one of names) assert.match(one, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
  assert.equal(new Set(names).size, names.length)
  assert.deepEqual(name(), names)
  assert.equal(names[0], 'find')
  assert.equal(names[4], 'lamps_find')
  assert.equal(
    names.some((one) => one in {}),
    false,
  )
})

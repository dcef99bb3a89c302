import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAgentIds } from './parse-agent-ids.ts'

const [one, two] = ['agt_0123456789abcdefghijAB', 'agt_ZZZZZZZZZZZZZZZZZZZZZZ']

test('ids are found however they are set apart, each once', () => {
  assert.deepEqual(parseAgentIds(` ${one},${two}\n${one};`), { ids: [one, two], wrong: [] })
})

test('what is no agent’s id is said, as it was typed', () => {
  const wrong = ['ann@example.com', `${one}x`, one.slice(1), one.toUpperCase()]
  assert.deepEqual(parseAgentIds(`${wrong.join(' ')} ${two}`), { ids: [two], wrong })
})

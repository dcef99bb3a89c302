import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateTokens, fitHistory } from './fit-history.ts'
import type { Turn } from './model.ts'

const person = (text: string): Turn => ({ author: 'person', name: 'Ada', text })
const agent = (text: string): Turn => ({ author: 'agent', text })
const other = (text: string): Turn => ({ author: 'other_agent', name: 'Bot', text })
const thirty = 'x'.repeat(90)

test('a history within the budget is kept whole, in its order', () => {
  const history = [person('one'), agent('two'), person('three'), agent('four')]
  assert.deepEqual(fitHistory(history, 1_000), history)
  assert.deepEqual(fitHistory([], 1_000), [])
})

test('the newest turns stay within the budget, without a gap', () => {
  const history = Array.from({ length: 50 }, (_, i) => (i % 2 ? agent : person)(`${i} ${thirty}`))
  const kept = fitHistory(history, 500)
  assert.deepEqual(kept, history.slice(-kept.length))
  assert.ok(kept.length >= 8 && kept.length <= 10, `${kept.length}`)
})

test("the newest person's turn stays, however much others said after it", () => {
  const question = person('What is the time?')
  const kept = fitHistory([person('before'), question, ...Array.from({ length: 40 }, (_, i) => other(`${i} ${thirty}`))], 300)
  assert.equal(
    kept[0],
    kept.find((turn) => turn.author === 'person'),
  )
  assert.deepEqual(kept[0], question)
  assert.equal(kept.at(-1)!.text, `39 ${thirty}`)
  assert.ok(kept.length < 10)
})

test('a single turn above the budget is cut, between characters', () => {
  const [kept] = fitHistory([agent('hello'), person('👨‍👩‍👧‍👦'.repeat(2_000))], 400)
  assert.ok(estimateTokens(kept!.text) <= 400)
  assert.match(kept!.text, /^(👨‍👩‍👧‍👦)+…$/u)
})

test('the estimate counts what scripts cost, not characters', () => {
  assert.equal(estimateTokens('a'.repeat(300)), 100)
  assert.equal(estimateTokens('漢'.repeat(100)), 100)
})

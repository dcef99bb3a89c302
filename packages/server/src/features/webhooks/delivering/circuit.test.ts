import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Circuit } from './circuit.ts'

test('an endpoint that does well gets more tries at once with every success, up to 16', () => {
  const circuit = new Circuit(0)
  const widths = Array.from({ length: 20 }, () => (circuit.note(true), circuit.width))
  assert.deepEqual([widths[0], widths.at(-1)], [3, 16])
})

test('failures in a row narrow it to one try, and the fifth makes it pause, longer each time, up to five minutes', () => {
  const circuit = new Circuit(0)
  for (let i = 0; i < 10; i++) circuit.note(true)
  const seen = Array.from({ length: 14 }, () => (circuit.note(false), [circuit.width, circuit.pauseMs(0.5)]))
  assert.deepEqual(
    seen.map(([, pause]) => pause),
    [0, 0, 0, 0, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000, 300_000],
  )
  assert.deepEqual(
    seen.slice(0, 5).map(([width]) => width),
    [6, 3, 1, 1, 1],
  )
})

test('what was left behind by a former worker counts, and one success ends it', () => {
  const circuit = new Circuit(9)
  assert.equal(circuit.width, 1)
  circuit.note(true)
  assert.deepEqual([circuit.failures, circuit.pauseMs()], [0, 0])
})

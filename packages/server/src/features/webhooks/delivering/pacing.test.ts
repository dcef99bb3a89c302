import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Circuit, maxAttempts, retryAfterMs } from './endpoint-run.ts'

test('a healthy endpoint receives one more concurrent request with every success, up to 16', () => {
  const circuit = new Circuit(0)
  const widths = Array.from({ length: 20 }, () => (circuit.note(true), circuit.width))
  assert.deepEqual([widths[0], widths.at(-1)], [3, 16])
})

test('failures in a row reduce it to one request, and from the fifth on pauses grow up to five minutes', () => {
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

test('the failures that an earlier worker stored count, and one success resets them', () => {
  const circuit = new Circuit(9)
  assert.equal(circuit.width, 1)
  circuit.note(true)
  assert.deepEqual([circuit.failures, circuit.pauseMs()], [0, 0])
})

test('there are ten attempts, over 75 hours, with growing waits', () => {
  assert.equal(maxAttempts, 10)
  const waits = Array.from({ length: maxAttempts - 1 }, (_, i) => retryAfterMs(i + 1, 0.5)!)
  assert.equal(Math.floor(waits.reduce((sum, wait) => sum + wait) / (60 * 60_000)), 75)
  assert.deepEqual(
    waits.toSorted((a, b) => a - b),
    waits,
  )
  assert.equal(retryAfterMs(maxAttempts), undefined)
})

test('waits vary by a tenth to either side', () => {
  assert.deepEqual(
    [0, 0.5, 1].map((random) => retryAfterMs(1, random)),
    [4_500, 5_000, 5_500],
  )
})

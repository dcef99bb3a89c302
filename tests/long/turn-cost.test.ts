import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { startTestSpace, type TestSpace } from '../../packages/space/src/testing/test-space.ts'

const lines = 50_000
const samples = 400

test('a turn costs the same in a room of 10 and of 50,000 lines', { timeout: 120_000 }, async (t) => {
  const space = await startTestSpace()
  try {
    const small = fresh()
    const large = fresh()
    await fill(space, small, 10)
    await fill(space, large, lines)
    const took = { small: [] as number[], large: [] as number[] }
    // Alternately, so that a disturbance affects both measurements.
    for (let i = 0; i < samples; i++) {
      took.small.push(await timed(() => say(space, small)))
      took.large.push(await timed(() => say(space, large)))
    }
    const ratio = median(took.large) / median(took.small)
    t.diagnostic(`median ${median(took.small).toFixed(2)} ms and ${median(took.large).toFixed(2)} ms: ${ratio.toFixed(2)}`)
    assert.ok(ratio < 1.2, `${ratio}`)
  } finally {
    await space.close()
  }
})

const fresh = () => ({ room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') })

async function say(space: TestSpace, secret: object): Promise<void> {
  const { status } = await space.call('turn', { ...secret, message: { text: 'The lamps are lit.' } })
  assert.equal(status, 200)
}

async function fill(space: TestSpace, secret: object, count: number): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (left-- > 0) await say(space, secret)
    }),
  )
}

async function timed(run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

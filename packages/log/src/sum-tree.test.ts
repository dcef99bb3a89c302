import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { emptySum, followSteps, joinSums, proveSum, sumLeaf, SumTreeBuilder, type SumNode } from './sum-tree.ts'

const leafOf = (i: number) => sumLeaf({ account: `ten_1/${i}`, balance: i % 7, salt: Buffer.alloc(32, i % 251) })

async function build(count: number) {
  const tiles = new Map<string, SumNode[]>()
  let maxHeld = 0
  const builder = new SumTreeBuilder(async ({ level, index, nodes }) => void tiles.set(`${level}/${index}`, nodes))
  for (let i = 0; i < count; i++) {
    await builder.add(leafOf(i))
    if (i % 100 === 0) maxHeld = Math.max(maxHeld, builder.held)
  }
  const root = await builder.finish()
  return { root, maxHeld, tiles, read: async (level: number, index: number) => tiles.get(`${level}/${index}`)! }
}

/** The root by the definition of RFC 6962: the left side has the largest power of two below the count. */
function byDefinition(leaves: SumNode[]): SumNode {
  if (leaves.length < 2) return leaves[0] ?? emptySum
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return joinSums(byDefinition(leaves.slice(0, split)), byDefinition(leaves.slice(split)))
}

test('trees of every shape have the root of the definition, and every leaf a proof', async () => {
  for (const count of [0, 1, 2, 3, 5, 255, 256, 257, 511, 512, 700, 2_049]) {
    const leaves = Array.from({ length: count }, (_, i) => leafOf(i))
    const { root, read } = await build(count)
    assert.deepEqual(root, byDefinition(leaves), String(count))
    for (const i of [0, 1, 254, 255, 256, 257, count - 2, count - 1].filter((one) => one >= 0 && one < count))
      assert.deepEqual(followSteps(leaves[i]!, await proveSum(count, i, read)), root, `${i} of ${count}`)
  }
})

test('a tree of 100,000 leaves holds at most a tile of each level', async () => {
  const { root, maxHeld, read } = await build(100_000)
  assert.ok(maxHeld < 3 * 256, String(maxHeld))
  for (const i of [0, 65_535, 65_536, 99_999]) assert.deepEqual(followSteps(leafOf(i), await proveSum(100_000, i, read)), root)
  assert.equal(
    root.sum,
    Array.from({ length: 100_000 }, (_, i) => i % 7).reduce((a, b) => a + b),
  )
})

test('another balance, account, salt or sum on the way leads to another root, and a negative sum to none', async () => {
  const { root, read } = await build(300)
  const steps = await proveSum(300, 42, read)
  const salt = Buffer.alloc(32, 42)
  for (const leaf of [
    { account: 'ten_1/42', balance: 1, salt },
    { account: 'ten_1/43', balance: 0, salt },
    { account: 'ten_1/42', balance: 0, salt: randomBytes(32) },
  ])
    assert.notDeepEqual(followSteps(sumLeaf(leaf), steps), root)
  const lower = steps.map((step, i) => (i === 3 ? { ...step, sum: step.sum - 1 } : step))
  assert.notDeepEqual(followSteps(leafOf(42), lower).hash, root.hash)
  assert.throws(() => followSteps(leafOf(42), [{ ...steps[0]!, sum: -1 }]), RangeError)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentTool } from './agent-tool.ts'
import { takeSoundTools } from './take-sound-tools.ts'

const { signal } = new AbortController()

function tool(name: string, parameters: Record<string, unknown>): AgentTool {
  return { name, description: name, parameters, call: () => Promise.resolve({ ok: true, text: '' }) }
}

const honest = (i: number) =>
  tool(`honest${i}`, { type: 'object', properties: { number: { type: 'integer', minimum: i }, note: { type: 'string' } } })

/** As much work as 16 KiB can make. */
const allOf = Array.from({ length: 5_000 }, () => ({}))
const slow = (i: number) => tool(`slow${i}`, { type: 'object', allOf })

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

test('a hundred honest tools pass, and no more are looked at', async () => {
  const tools = Array.from({ length: 200 }, (_, i) => honest(i))
  const taken = await takeSoundTools(tools, 100, signal)
  assert.deepEqual(taken, { tools: tools.slice(0, 100), unchecked: 0 })
})

test('schemas made to take long end at a budget for all of them, with other work done in between, and nobody else pays for them', async (t) => {
  let longestMs = 0
  let since = cpuMs()
  const turn = () => {
    longestMs = Math.max(longestMs, cpuMs() - since)
    since = cpuMs()
    turning = setImmediate(turn)
  }
  let turning = setImmediate(turn)
  t.after(() => clearImmediate(turning))
  const before = cpuMs()
  const hostile = Array.from({ length: 8 }, () =>
    takeSoundTools(
      Array.from({ length: 512 }, (_, i) => slow(i)),
      100,
      signal,
    ),
  )
  const guest = takeSoundTools([honest(1)], 100, signal)
  assert.equal((await guest).tools.length, 1)
  for (const { unchecked } of await Promise.all(hostile)) assert.ok(unchecked > 400, `${unchecked} unchecked`)
  const spentMs = cpuMs() - before
  longestMs = Math.max(longestMs, cpuMs() - since)
  assert.ok(spentMs < 8 * 500, `${spentMs} ms for eight agents`)
  assert.ok(longestMs < 150, `${longestMs} ms in one turn of the event loop`)
})

test('a schema of more than 16 KiB, or one that is none, is left out, and what comes after it is not', async () => {
  const large = tool('large', { type: 'object', description: 'x'.repeat(16 * 1024) })
  const none = tool('none', { type: 'strnig' })
  const remote = tool('remote', { type: 'object', properties: { a: { $ref: 'https://x.example/s' } } })
  const taken = await takeSoundTools([large, none, remote, honest(1)], 100, signal)
  assert.deepEqual([taken.tools.map(({ name }) => name), taken.unchecked], [['honest1'], 0])
})

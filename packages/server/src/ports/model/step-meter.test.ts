import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openModel } from './open-model.ts'
import { countTokens, StoppedByMeterError, type Meter } from './meter.ts'
import type { ModelReply } from './model.ts'
import type { AgentTool } from './tools/agent-tool.ts'

const asked = 'Who lights the lamps of this harbour? '.repeat(20)

/** Answers in the form of OpenAI, with tool calls for the first `rounds` requests, and reports no tokens. */
function provider(rounds: number): typeof fetch {
  const event = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
  return async () => {
    const calls = rounds-- > 0
    const body = calls
      ? event({ delta: { tool_calls: [call] } }) + event({ delta: {}, finish_reason: 'tool_calls' })
      : event({ delta: { content: 'The lamplighter does.' } }) + event({ delta: {}, finish_reason: 'stop' })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
}

async function replyWith(rounds: number, meter: Meter) {
  let looks = 0
  const look: AgentTool = {
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: {} },
    call: async () => ({ ok: true, text: `seen ${++looks}` }),
  }
  const model = openModel({
    model: { provider: 'openai_compatible', id: 'm' },
    providerKeys: { openai_compatible: 'key' },
    compatibleUrl: 'http://127.0.0.1:1/v1',
    fetch: provider(rounds),
  })
  const { signal } = new AbortController()
  const reply = model.reply({
    instructions: 'Be kind.',
    history: [{ author: 'person', text: asked }],
    tools: [look],
    signal,
    meter,
  })
  const outcome = await reply.catch((error: unknown) => error)
  return { outcome, looks }
}

test('where a provider reports no tokens, each step is estimated from what the model read and wrote', async () => {
  const seen: ModelReply['usage'][] = []
  const meter: Meter = {
    answered: async (usage) => seen.push(usage) > 0,
    mayCallTool: async () => true,
  }
  const { outcome } = await replyWith(1, meter)
  assert.equal((outcome as ModelReply).text, 'The lamplighter does.')
  const [first, second] = seen
  assert.equal(seen.length, 2)
  assert.ok(first!.inputTokens > asked.length / 4 && first!.outputTokens > 0)
  assert.ok(second!.inputTokens > first!.inputTokens, 'the second step reads the result of the first too')
})

test('no step begins after the one that the meter stops, and a call that it refuses is not made', async () => {
  let answers = 0
  const spent: Meter = { answered: async () => ++answers < 2, mayCallTool: async () => true }
  const stopped = await replyWith(9, spent)
  assert.ok(stopped.outcome instanceof StoppedByMeterError)
  assert.deepEqual([answers, stopped.looks], [2, 2])
  const refusing = await replyWith(9, { answered: async () => false, mayCallTool: async () => false })
  assert.ok(refusing.outcome instanceof StoppedByMeterError)
  assert.equal(refusing.looks, 0)
})

test('the last answer is given although the meter says that it was the last', async () => {
  const { outcome } = await replyWith(0, { answered: async () => false, mayCallTool: async () => true })
  assert.equal((outcome as ModelReply).text, 'The lamplighter does.')
})

test('an error of the meter ends the reply as it is', async () => {
  const lost = new Error('the lease is lost')
  const { outcome } = await replyWith(0, { answered: () => Promise.reject(lost), mayCallTool: async () => true })
  assert.equal(outcome, lost)
})

test('what a provider reports is a whole number that sums exactly', () => {
  const reported = [undefined, Number.NaN, -1, 0, 1.2, 1e300]
  assert.deepEqual(reported.map(countTokens), [undefined, undefined, undefined, 0, 2, 10_000_000])
})

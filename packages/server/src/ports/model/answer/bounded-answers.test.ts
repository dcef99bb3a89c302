import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostileAnswers } from '#testing/hostile-answers.ts'
import { longestBlock } from '#testing/processor-block.ts'
import { ModelError } from '../model-error.ts'
import { openModel } from '../open-model.ts'
import type { AgentTool } from '../tools/agent-tool.ts'
import { boundedAnswers } from './bounded-answers.ts'
import { answerLimits } from './bounded-events.ts'

/** The worst of these took six seconds. Most take some milliseconds; the rest is the garbage of all of them. */
const maxBlockMs = 150

const headers = { 'content-type': 'text/event-stream' }

/** Sends all of it at once, in pieces as large as a socket gives. */
function sending(text: string, status = 200): typeof fetch {
  const bytes = Buffer.from(text)
  return async () => {
    let at = 0
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
      at < bytes.length ? controller.enqueue(bytes.subarray(at, (at += 65_536))) : controller.close()
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status, headers })
  }
}

const tool: AgentTool = {
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: {} },
  call: async () => ({ ok: true, text: 'seen' }),
}

function ask(provider: string, fetch: typeof globalThis.fetch, tools = [tool]) {
  const compatibleUrl = 'http://127.0.0.1:1/v1'
  const model = openModel({ model: { provider, id: 'm' }, providerKeys: { [provider]: 'key' }, compatibleUrl, fetch })
  const signal = new AbortController().signal
  return model.reply({ instructions: '', history: [{ author: 'person', text: 'Hi' }], tools, signal })
}

const word = (content: string, more = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, ...more }] })}\n\n`
const end = word('', { finish_reason: 'stop' })

// The first call of each adapter compiles it.
test.before(async () => {
  for (const provider of ['openai', 'anthropic', 'google', 'openai_compatible'])
    await ask(provider, sending('data: {}\n\n'), [tool]).catch(() => undefined)
  await ask('openai_compatible', sending(word('x').repeat(2_000) + end), [])
})

for (const { name, provider, make } of hostileAnswers) {
  test(`an answer that is made to take long is given up, and holds nobody meanwhile: ${provider}, ${name}`, async () => {
    const fetch = sending(make())
    let outcome: unknown
    const blockMs = await longestBlock(() =>
      ask(provider, fetch).then(
        (reply) => (outcome = reply),
        (error: unknown) => (outcome = error),
      ),
    )
    assert.ok(outcome instanceof ModelError, String(outcome))
    assert.equal(outcome.code, 'bad_answer')
    assert.ok(blockMs < maxBlockMs, `it took ${blockMs.toFixed()} ms at once`)
  })
}

test('timers fire while an answer comes as fast as it can', async () => {
  let fired = 0
  const before = process.threadCpuUsage()
  const timer = setInterval(() => fired++, 1)
  await ask('openai_compatible', sending(word('').repeat(1_000) + word('done') + end))
  clearInterval(timer)
  // Of the processor time: what a busy machine takes does not count.
  const { user, system } = process.threadCpuUsage(before)
  const workedMs = (user + system) / 1_000
  assert.ok(fired >= Math.max(3, workedMs / 10), `${fired} times in ${workedMs.toFixed()} ms`)
})

test('what an honest model may send passes: many thoughts, long arguments, many calls, and an echo of all tools', async () => {
  const thought = `data: ${JSON.stringify({ choices: [{ delta: { reasoning_content: 'hm ' } }] })}\n\n`
  assert.equal((await ask('openai_compatible', sending(thought.repeat(4_000) + word('Yes.') + end))).text, 'Yes.')
  const properties = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`field_${i}`, { type: 'string', description: 'A field.' }]),
  )
  const tools = Array.from({ length: 60 }, () => ({ type: 'function', name: 'look', parameters: { type: 'object', properties } }))
  const response = {
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'm',
    output: [],
    tools,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const message = {
    type: 'message',
    id: 'msg',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
  }
  const answer = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
    { type: 'response.output_text.delta', item_id: 'msg', delta: 'Yes.' },
    { type: 'response.output_item.done', output_index: 0, item: message },
    { type: 'response.completed', response },
  ]
  const text = answer.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  assert.ok(Buffer.byteLength(JSON.stringify(answer[0])) > answerLimits.eventBytes)
  assert.deepEqual(await ask('openai', sending(text), []), {
    text: 'Yes.',
    usage: { inputTokens: 1, outputTokens: 1 },
    toolCalls: 0,
  })
})

test('a server that repeats id and name with every piece makes one call', async () => {
  const piece = (args: string) =>
    `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: args } }] } }] })}\n\n`
  const calling =
    ['{', ...Array.from({ length: 200 }, () => ' '), '}'].map(piece).join('') + word('', { finish_reason: 'tool_calls' })
  const answers = [sending(calling), sending(word('I saw it.') + end)]
  const reply = await ask('openai_compatible', (...args) => answers.shift()!(...args))
  assert.deepEqual([reply.text, reply.toolCalls], ['I saw it.', 1])
})

test('of an error only its beginning is read', async () => {
  let cancelled = false
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => controller.enqueue(Buffer.alloc(10_000, 'x'))
  const endless: typeof fetch = async () =>
    new Response(new ReadableStream({ pull, cancel: () => void (cancelled = true) }), { status: 500 })
  const answer = await boundedAnswers(endless)('https://x.example/')
  assert.equal((await answer.text()).length, 64 * 1024)
  assert.ok(cancelled)
})

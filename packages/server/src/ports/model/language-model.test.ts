import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { inspect } from 'node:util'
import { MockLanguageModelV4 } from 'ai/test'
import { leastMs } from '#testing/busy-machine.ts'
import { startProviderServer, type ProviderServer } from '#testing/provider-server.ts'
import type { Script } from '#testing/wires/wire.ts'
import { openEgress, type Egress } from '../egress/egress.ts'
import { languageModel, type ModelLimits } from './language-model.ts'
import type { ModelError } from './model-error.ts'
import type { ModelRequest } from './model.ts'
import { openModel } from './open-model.ts'
import type { AgentTool } from './tools/agent-tool.ts'

let server: ProviderServer
let egress: Egress
const printed: string[] = []
const key = 'sk-canary-4711'

before(async () => {
  server = await startProviderServer()
  egress = openEgress({ mode: 'loopback' })
  for (const level of ['log', 'info', 'warn', 'error'] as const)
    console[level] = (...args: unknown[]) => void printed.push(inspect(args))
  process.on('warning', (warning) => printed.push(inspect(warning)))
  process.on('unhandledRejection', (error) => printed.push(inspect(error)))
})
after(async () => {
  await egress.close()
  await server.close()
  assert.deepEqual(printed, [], 'nothing is printed, and no rejection is left over')
})
beforeEach(() => {
  server.requests.length = 0
})

function open(limits: Partial<ModelLimits> = {}, compatibleUrl = server.compatibleUrl) {
  return openModel({
    model: { provider: 'openai_compatible', id: 'llama3' },
    providerKeys: { openai_compatible: key },
    compatibleUrl,
    fetch: egress.fetch,
    limits,
  })
}

function request(given: Partial<ModelRequest> = {}): ModelRequest {
  const history = [{ author: 'person' as const, name: 'Ada', text: 'Tell me a canary-secret.' }]
  return { instructions: 'Be kind.', history, tools: [], signal: new AbortController().signal, ...given }
}

async function failure(scripts: Script[], limits?: Partial<ModelLimits>): Promise<ModelError> {
  server.script(...scripts)
  let caught: unknown
  await open(limits)
    .reply(request())
    .catch((error: unknown) => (caught = error))
  assert.equal((caught as Error | undefined)?.name, 'ModelError', inspect(caught))
  return caught as ModelError
}

async function until(condition: () => boolean, withinMs = 20_000): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'not in time')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const error = (status: number, code: string, headers = {}): Script => ({
  status,
  headers,
  body: { error: { message: `Incorrect key ${key}, see https://x.example/?key=${key}`, type: code, code } },
})

test('every failure of a provider has its code, and only those that pass say that a retry may help', async () => {
  const cases: [Script, string, boolean, RegExp][] = [
    [error(401, 'invalid_api_key'), 'unauthorized', false, /did not accept the owner's key/],
    [error(403, 'permission_denied'), 'unauthorized', false, /key/],
    [error(429, 'rate_limit_exceeded', { 'retry-after': '12' }), 'unavailable', true, /slow down/],
    [error(429, 'insufficient_quota'), 'quota_exceeded', false, /quota/],
    [error(402, 'payment_required'), 'quota_exceeded', false, /quota/],
    [error(400, 'content_policy_violation'), 'refused', false, /declined/],
    [error(400, 'context_length_exceeded'), 'refused', false, /status 400, context_length_exceeded/],
    [error(404, 'model_not_found'), 'refused', false, /“llama3”/],
    [error(500, 'server_error'), 'unavailable', true, /status 500/],
    [error(503, 'x'.repeat(500)), 'unavailable', true, /\(status 503\)/],
    [{ status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 'bad_answer', false, /no usable answer/],
    [{ text: ['Well'], ending: { error: { code: 'insufficient_quota', message: key } } }, 'quota_exceeded', false, /quota/],
    [{ text: ['Well'], ending: { error: { code: 'server_error', message: key } } }, 'unavailable', true, /not available/],
    [{ text: ['Well'], ending: 'hang up' }, 'unavailable', true, /cannot be reached/],
    [{ ending: 'garbage' }, 'bad_answer', false, /no usable answer/],
    [{ text: [] }, 'bad_answer', false, /no usable answer/],
    [{ text: [' \n\0 '] }, 'bad_answer', false, /no usable answer/],
  ]
  for (const [script, code, retryable, message] of cases) {
    const got = await failure([script])
    assert.equal(got.code, code, inspect(script))
    assert.equal(got.retryable, retryable, inspect(script))
    assert.match(got.message, message)
    assert.doesNotMatch(inspect(got, { depth: 9, showHidden: true }), /canary|x\.example|127\.0\.0\.1/, inspect(script))
  }
  const asked = await failure([error(429, 'rate_limit_exceeded', { 'retry-after': new Date(Date.now() + 30_000).toUTCString() })])
  assert.ok(asked.retryAfterSeconds! >= 28 && asked.retryAfterSeconds! <= 31)
  assert.equal(server.requests.length, cases.length + 1, 'it does not retry by itself')
})

test('a provider that is not there is unavailable; one at an address that is not allowed is refused', async () => {
  const gone = await startProviderServer()
  await gone.close()
  await assert.rejects(open({}, gone.compatibleUrl).reply(request()), { code: 'unavailable', retryable: true })
  await assert.rejects(open({}, 'http://169.254.169.254/v1').reply(request()), { code: 'refused', retryable: false })
})

test('a provider that is silent, stalls, or never comes to an end is given up, and its connection closed', async () => {
  // Only the limit of the case can end it in time.
  const patient = { firstWordMs: 60_000, idleMs: 60_000, totalMs: 120_000 }
  const cases: [Script, Partial<ModelLimits>][] = [
    [{ silent: true }, { firstWordMs: 100 }],
    [{ ending: 'stall' }, { firstWordMs: 100 }],
    [{ text: ['Well, '], ending: 'stall' }, { idleMs: 100 }],
    [{ ending: 'endless' }, { totalMs: 300, textBytes: 1e9 }],
  ]
  for (const [script, limits] of cases) {
    const started = performance.now()
    const got = await failure([script], { ...patient, ...limits })
    assert.equal(got.code, 'unavailable')
    assert.equal(got.retryable, true)
    assert.match(got.message, /too long/)
    assert.ok(performance.now() - started < 30_000, inspect(script))
    await until(() => server.open() === 0)
  }
})

test('an answer longer than a message is cut at a sentence, and the rest is not waited for', async () => {
  server.script({ ending: 'endless' })
  const { text, usage } = await open().reply(request())
  assert.ok(Buffer.byteLength(text) <= 16_384 && Buffer.byteLength(text) > 16_000, `${Buffer.byteLength(text)}`)
  assert.match(text, /^(On and on it goes\. )+On and on it goes\.…$/)
  assert.ok(usage.outputTokens > 4_000)
  await until(() => server.open() === 0)
})

test('abort stops within 200 ms, closes the connection and gives the reason back', async () => {
  const hanging: AgentTool = { ...tool('find'), call: () => new Promise(() => {}) }
  const scripts: Script[] = [{ silent: true }, { text: ['Well, '], ending: 'stall' }, { calls: [{ name: 'find', args: '{}' }] }]
  for (const script of scripts) {
    const ms = await leastMs(200, async (begin) => {
      server.requests.length = 0
      server.script(script)
      const stop = new AbortController()
      const reply = open().reply(request({ tools: [hanging], signal: stop.signal }))
      await until(() => server.requests.length === 1)
      await new Promise((resolve) => setImmediate(resolve))
      begin()
      const reason = new Error('stopped by its owner')
      stop.abort(reason)
      await assert.rejects(reply, reason)
      await until(() => server.open() === 0)
    })
    assert.ok(ms < 200, `${inspect(script)}: ${ms} ms`)
  }
  await assert.rejects(open().reply(request({ signal: AbortSignal.abort(new Error('before')) })), { message: 'before' })
})

function tool(
  name: string,
  answer: Awaited<ReturnType<AgentTool['call']>> = { ok: true, text: 'done' },
): AgentTool & { calls: unknown[] } {
  const calls: unknown[] = []
  const call: AgentTool['call'] = async (args) => {
    calls.push(args)
    return answer
  }
  return { name, description: 'A tool.', parameters: { type: 'object', properties: {} }, call, calls }
}

const toolMessages = (n: number) => server.requests[n]!.body.messages.filter(({ role }: any) => role === 'tool')

test('a tool that fails, a tool that is not there and broken arguments are told to the model, which goes on', async () => {
  const failing = tool('find', { ok: false, error: 'The lamp house is closed.' })
  const calls = [
    { name: 'find', args: '{}' },
    { name: 'nothing', args: '{}' },
    { name: 'find', args: '{"n":' },
  ]
  server.script({ calls }, { text: ['It is closed.'] })
  const reply = await open().reply(request({ tools: [failing] }))
  assert.equal(reply.text, 'It is closed.')
  assert.equal(reply.toolCalls, 1)
  const told = toolMessages(1).map(({ content }: any) => content)
  assert.equal(told.length, 3)
  assert.match(told[0], /The lamp house is closed\./)
  assert.match(told[1], /nothing/)
})

test('at most eight tool calls in a turn: the ninth is told so, and none may follow', async () => {
  const find = tool('find')
  server.script({ calls: Array.from({ length: 9 }, () => ({ name: 'find', args: '{}' })) }, { text: ['Enough.'] })
  const reply = await open().reply(request({ tools: [find] }))
  assert.equal(find.calls.length, 8)
  assert.equal(reply.toolCalls, 8)
  assert.match(toolMessages(1)[8].content, /No more tool calls/)
  assert.equal(server.requests[1]!.body.tool_choice, 'none')
})

test('at most five steps: in the last one no tool may be called', async () => {
  const find = tool('find')
  server.script(...Array.from({ length: 4 }, () => ({ text: ['Looking.'], calls: [{ name: 'find', args: '{}' }] })), {
    text: ['Found.'],
  })
  const reply = await open().reply(request({ tools: [find] }))
  assert.equal(reply.text, 'Found.')
  assert.equal(server.requests.length, 5)
  const choices = server.requests.map(({ body }) => body.tool_choice)
  assert.deepEqual(choices, ['auto', 'auto', 'auto', 'auto', 'none'])
})

test('a model that calls a tool in its last step all the same is held to what it said', async () => {
  const endless: Script = { text: ['Looking.'], calls: [{ name: 'find', args: '{}' }] }
  server.script(...Array.from({ length: 5 }, () => endless))
  const reply = await open().reply(request({ tools: [tool('find')] }))
  assert.equal(reply.text, 'Looking.')
  assert.equal(server.requests.length, 5)
})

test('a file that an answer points to is not fetched', async (t) => {
  const stray = await startProviderServer()
  t.after(() => stray.close())
  const file = { type: 'file' as const, mediaType: 'text/plain', data: { type: 'url' as const, url: new URL(stray.origin) } }
  const stream = new ReadableStream({
    start: (controller) => {
      controller.enqueue(file)
      controller.close()
    },
  })
  const model = new MockLanguageModelV4({ doStream: async () => ({ stream }) })
  await assert.rejects(languageModel({ provider: 'Test', model }).reply(request()), { code: 'bad_answer' })
  assert.equal(stray.requests.length, 0)
})

test('a history beyond the budget is not sent, the newest question is', async () => {
  const old = Array.from({ length: 200 }, (_, i) => ({ author: 'person' as const, name: 'Ada', text: `${i} ${'x'.repeat(300)}` }))
  await open({ historyTokens: 2_000 }).reply(request({ history: [...old, { author: 'person', name: 'Bo', text: 'the newest' }] }))
  const sent = JSON.stringify(server.requests[0]!.body)
  assert.ok(sent.length < 9_000, `${sent.length}`)
  assert.match(sent, /the newest/)
})

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startProviderServer, type ProviderRequest, type ProviderServer } from '#testing/provider-server.ts'
import { openEgress, type Egress } from '../egress/egress.ts'
import { openModel } from './open-model.ts'
import type { ModelRequest, Turn } from './model.ts'

let server: ProviderServer
let egress: Egress
const asked: string[] = []

before(async () => {
  server = await startProviderServer()
  egress = openEgress({ mode: 'loopback' })
})
after(async () => {
  await egress.close()
  await server.close()
})
beforeEach(() => {
  server.requests.length = 0
  asked.length = 0
})

/** The providers' own addresses, answered by our server. */
const fetch: typeof globalThis.fetch = (input, init) => {
  asked.push(String(input))
  return egress.fetch(String(input).replace(/^https:\/\/[^/]+/, server.origin), init)
}

const keys = {
  openai_compatible: 'sk-openai-canary',
  openai: 'sk-openai-canary',
  anthropic: 'sk-ant-canary',
  google: 'google-canary',
}
const providers = {
  openai: { model: 'gpt-5', origin: 'https://api.openai.com', path: '/v1/responses', header: 'authorization' },
  anthropic: { model: 'claude-sonnet-4-5', origin: 'https://api.anthropic.com', path: '/v1/messages', header: 'x-api-key' },
  google: {
    model: 'gemini-2.5-flash',
    origin: 'https://generativelanguage.googleapis.com',
    path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent',
    header: 'x-goog-api-key',
  },
  compatible: { model: 'llama3', origin: '', path: '/v1/chat/completions', header: 'authorization' },
} as const
type Name = keyof typeof providers
const names = Object.keys(providers) as Name[]

function open(name: Name) {
  const provider = name === 'compatible' ? 'openai_compatible' : name
  const compatibleUrl = name === 'compatible' ? server.compatibleUrl : undefined
  return openModel({ model: { provider, id: providers[name].model }, providerKeys: keys, compatibleUrl, fetch })
}

const room: Turn[] = [
  { author: 'agent', text: 'Welcome aboard.' },
  { author: 'person', name: 'Ada', text: 'Which lamp is out?' },
  { author: 'other_agent', name: 'Bot', text: 'Beep.' },
  { author: 'agent', text: 'Let me see.' },
  { author: 'person', name: 'Bo', text: 'And number 3?' },
]

function request(given: Partial<ModelRequest> = {}): ModelRequest {
  return { instructions: 'Be a lamplighter.', history: room, tools: [], signal: new AbortController().signal, ...given }
}

/** System text and the conversation, whatever the provider's form. */
function conversation({ body }: ProviderRequest): { system: string; messages: [string, string][] } {
  const textOf = (content: any): string =>
    typeof content === 'string' ? content : content.map((part: any) => part.text).join('')
  if (body.contents) {
    const messages = body.contents.map((message: any) => [message.role === 'model' ? 'assistant' : 'user', textOf(message.parts)])
    return { system: textOf(body.systemInstruction.parts), messages }
  }
  const all = (body.input ?? body.messages).map(({ role, content }: any) => [role, textOf(content)] as [string, string])
  const isSystem = ([role]: [string, string]) => role === 'system' || role === 'developer'
  return {
    system: body.system ? textOf(body.system) : all.find(isSystem)![1],
    messages: all.filter((one: any) => !isSystem(one)),
  }
}

for (const name of names) {
  test(`${name}: the instructions are the system's, the room is the conversation, in order and by author`, async () => {
    server.script({ text: ['Number 3 ', 'is lit. ', '🏮'] })
    const reply = await open(name).reply(request())
    assert.deepEqual(reply, { text: 'Number 3 is lit. 🏮', usage: { inputTokens: 11, outputTokens: 7 }, toolCalls: 0 })
    assert.equal(server.requests.length, 1)
    assert.equal(server.requests[0]!.path, providers[name].path)
    const { system, messages } = conversation(server.requests[0]!)
    assert.match(system, /^Be a lamplighter\.\n\n/)
    assert.deepEqual(messages, [
      ['user', '[you joined the room]'],
      ['assistant', 'Welcome aboard.'],
      ['user', '[person "Ada"]\n| Which lamp is out?\n\n[agent "Bot"]\n| Beep.'],
      ['assistant', 'Let me see.'],
      ['user', '[person "Bo"]\n| And number 3?'],
    ])
  })

  test(`${name}: a tool call goes out and its answer comes back`, async () => {
    const seen: unknown[] = []
    const parameters = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] }
    const call = async (args: unknown) => {
      seen.push(args)
      return { ok: true as const, text: 'lamp 3 is lit' }
    }
    server.script({ text: ['Let me look.'], calls: [{ name: 'find_lamp', args: '{"number":3}' }] }, { text: ['It is lit.'] })
    const tools = [{ name: 'find_lamp', description: 'Finds a lamp.', parameters, call }]
    const reply = await open(name).reply(request({ tools }))
    assert.deepEqual(reply, { text: 'It is lit.', usage: { inputTokens: 22, outputTokens: 14 }, toolCalls: 1 })
    assert.deepEqual(seen, [{ number: 3 }])
    assert.match(JSON.stringify(server.requests[0]!.body.tools), /find_lamp.*Finds a lamp\..*"integer"/)
    assert.match(JSON.stringify(server.requests[1]!.body), /lamp 3 is lit/)
  })

  test(`${name}: the key is in its header and nowhere else, and goes to the provider's own address`, async () => {
    const provider = name === 'compatible' ? 'openai_compatible' : name
    const environment = [
      'OPENAI_BASE_URL',
      'ANTHROPIC_BASE_URL',
      'GOOGLE_GENERATIVE_AI_BASE_URL',
      'OPENAI_API_KEY',
      'ANTHROPIC_API_KEY',
    ]
    const saved = environment.map((variable) => [variable, process.env[variable]] as const)
    for (const variable of environment) process.env[variable] = 'http://127.0.0.1:9/stolen'
    await open(name)
      .reply(request())
      .finally(() => {
        for (const [variable, value] of saved)
          if (value === undefined) delete process.env[variable]
          else process.env[variable] = value
      })
    const [got] = server.requests
    const { [providers[name].header]: header, ...others } = got!.headers
    assert.equal(header, (providers[name].header === 'authorization' ? 'Bearer ' : '') + keys[provider])
    assert.doesNotMatch(JSON.stringify(others) + JSON.stringify(got!.body) + asked.join(), /canary/)
    assert.ok(
      asked.every((url) => url.startsWith(providers[name].origin || server.origin)),
      asked.join(),
    )
  })

  test(`${name}: an answer that the provider's policy stops is told as refused, not shown`, async () => {
    server.script({ text: ['How to '], finish: 'refused' })
    await assert.rejects(open(name).reply(request()), { code: 'refused', retryable: false })
  })

  test(`${name}: an overloaded provider, before or in the middle of an answer, is unavailable for a while`, async () => {
    server.script({
      status: 529,
      headers: { 'retry-after': '7' },
      body: { error: { type: 'overloaded_error', message: 'Overloaded' } },
    })
    await assert.rejects(open(name).reply(request()), { code: 'unavailable', retryable: true, retryAfterSeconds: 7 })
    server.script({ text: ['Well'], ending: { error: { code: 'overloaded_error', message: 'Overloaded' } } })
    await assert.rejects(open(name).reply(request()), { code: 'unavailable', retryable: true })
  })
}

test('a request to OpenAI asks it to store nothing', async () => {
  await open('openai').reply(request())
  assert.equal(server.requests[0]!.body.store, false)
})

test('without a model, or with the echo, no provider is asked', async () => {
  for (const model of [undefined, { provider: 'echo', id: 'echo' }]) {
    const reply = await openModel({ model, providerKeys: keys, fetch }).reply(request())
    assert.match(reply.text, /built-in echo/)
  }
  assert.equal(server.requests.length, 0)
})

test('a provider without a key says so when it is asked, and not before', async () => {
  for (const [provider, providerKeys] of [
    ['openai', {}],
    ['google', { openai: 'x' }],
    ['toString', keys],
    ['unheard', { unheard: 'k' }],
  ] as const) {
    const model = openModel({ model: { provider, id: 'x' }, providerKeys, fetch })
    await assert.rejects(model.reply(request()), { name: 'ModelError', code: 'no_key', retryable: false })
  }
  assert.equal(server.requests.length, 0)
})

test("each provider's own way of saying that a key is wrong, or used up, is understood", async () => {
  const google = (status: string, message: string, detail: object) => ({ error: { code: 0, message, status, details: [detail] } })
  const exhausted = (quotaId: string) =>
    google('RESOURCE_EXHAUSTED', 'You exceeded your current quota.', { violations: [{ quotaId }] })
  const cases: [Name, number, unknown, string][] = [
    ['google', 400, google('INVALID_ARGUMENT', 'API key not valid.', { reason: 'API_KEY_INVALID' }), 'unauthorized'],
    ['google', 429, exhausted('GenerateRequestsPerMinutePerProjectPerModel'), 'unavailable'],
    ['google', 429, exhausted('GenerateRequestsPerDayPerProjectPerModel-FreeTier'), 'quota_exceeded'],
    ['anthropic', 401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }, 'unauthorized'],
    [
      'anthropic',
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low' } },
      'quota_exceeded',
    ],
    [
      'openai',
      429,
      { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } },
      'quota_exceeded',
    ],
    ['openai', 429, { error: { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' } }, 'unavailable'],
  ]
  for (const [name, status, body, code] of cases) {
    server.script({ status, body })
    await assert.rejects(open(name).reply(request()), { code, retryable: code === 'unavailable' }, JSON.stringify(body))
  }
})

/**
 * Streams that an untrusted server may send as an answer. Each has less than 4 MiB, and took a library seconds or
 * much memory.
 */
export interface HostileAnswer {
  name: string
  provider: 'openai' | 'anthropic' | 'google' | 'openai_compatible'
  make: () => string
}

const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const many = (count: number, make: (i: number) => string) => Array.from({ length: count }, (_, i) => make(i)).join('')
const filled = (count: number, value: unknown) => Array.from({ length: count }, () => value)

const chat = (delta: object) =>
  event({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta }] })
const call = (i: number, args = '{}') => ({
  index: 0,
  id: `c${i}`,
  type: 'function',
  function: { name: 'look', arguments: args },
})
const argument = event({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: 'aaa' } }] } }] })
const google = (...parts: object[]) => event({ candidates: [{ content: { role: 'model', parts } }] })
const item = (type: string, i: number) =>
  event({
    type,
    output_index: i,
    item: { type: 'function_call', id: `f${i}`, call_id: `c${i}`, name: 'look', arguments: '{}', status: 'completed' },
  })
const annotation = { type: 'url_citation', url: 'https://x.example/', title: 't', start_index: 0, end_index: 1 }
const block = (i: number, content_block: object) => event({ type: 'content_block_start', index: i, content_block })
const thinking = { type: 'thinking_delta', thinking: 'a' }

const answer = (provider: HostileAnswer['provider'], name: string, make: () => string): HostileAnswer => ({
  provider,
  name,
  make,
})

export const hostileAnswers: HostileAnswer[] = [
  answer('openai_compatible', 'calls under one index', () => many(9_000, (i) => chat({ tool_calls: [call(i)] }))),
  answer('openai_compatible', 'the same call again and again', () => many(9_000, () => chat({ tool_calls: [call(1)] }))),
  answer('openai_compatible', 'calls without id or index', () =>
    many(12_000, () => chat({ tool_calls: [{ function: { name: 'look' } }] })),
  ),
  answer('openai_compatible', 'calls that are never named', () =>
    many(12_000, (i) => chat({ tool_calls: [{ index: i, function: { arguments: '{' } }] })),
  ),
  answer('openai_compatible', '40,000 calls in one event', () =>
    chat({ tool_calls: Array.from({ length: 40_000 }, (_, i) => call(i)) }),
  ),
  answer('openai_compatible', 'calls that are cut off', () => many(9_000, (i) => chat({ tool_calls: [call(i, '{"a":"')] }))),
  answer('openai_compatible', 'a call in tiny pieces', () => chat({ tool_calls: [call(1, '{"a":"')] }) + argument.repeat(5_000)),
  answer('openai_compatible', 'empty words', () => event({ choices: [{ delta: { content: '' } }] }).repeat(40_000)),
  answer('openai_compatible', 'tiny thoughts', () => event({ choices: [{ delta: { reasoning_content: 'a' } }] }).repeat(5_000)),
  answer('openai_compatible', 'comments', () => ':\n'.repeat(1_900_000)),
  answer('openai_compatible', 'line ends', () => `\r${'\n'.repeat(3_900_000)}`),
  answer('openai_compatible', 'empty lines of one event', () => `${'data:\n'.repeat(600_000)}\n`),
  answer('openai_compatible', 'one line', () => `data: ${'a'.repeat(3_900_000)}`),
  answer('openai_compatible', 'nested without end', () => event('['.repeat(1_900_000))),
  answer('openai_compatible', 'a million wrong parts', () => event({ choices: filled(1_400_000, 1) })),
  answer('openai_compatible', 'as many wrong parts as it may have', () =>
    event({ choices: filled(120, { delta: { tool_calls: filled(60, 1) } }) }),
  ),
  answer('openai', 'items that begin', () => many(14_000, (i) => item('response.output_item.added', i))),
  answer('openai', 'items that end', () => many(14_000, (i) => item('response.output_item.done', i))),
  answer('openai', 'sources', () => event({ type: 'response.output_text.annotation.added', annotation }).repeat(14_000)),
  answer('anthropic', 'calls', () => many(18_000, (i) => block(i, { type: 'tool_use', id: `t${i}`, name: 'look', input: {} }))),
  answer('anthropic', 'texts', () => many(22_000, (i) => block(i, { type: 'text', text: '' }))),
  answer(
    'anthropic',
    'thoughts',
    () =>
      block(0, { type: 'thinking', thinking: '' }) +
      event({ type: 'content_block_delta', index: 0, delta: thinking }).repeat(5_000),
  ),
  answer('google', 'calls', () => google(...(filled(40_000, { functionCall: { name: 'look', args: {} } }) as object[]))),
  answer(
    'openai_compatible',
    'pieces of a call in one event',
    () =>
      chat({ tool_calls: [call(1, '{"a":"')] }) +
      chat({ tool_calls: filled(1_500, { index: 0, function: { arguments: 'a' } }) }).repeat(10),
  ),
  answer('openai_compatible', 'words in one event', () =>
    chat({ content: filled(1_500, { type: 'thinking', thinking: [{ type: 'text', text: 'a' }] }) }).repeat(10),
  ),
  answer('google', 'thoughts', () => google(...(filled(1_500, { text: 'a', thought: true }) as object[])).repeat(40)),
  answer('google', 'files', () =>
    google(...(filled(500, { inlineData: { mimeType: 'image/png', data: 'aaaa' } }) as object[])).repeat(80),
  ),
  answer('google', 'an argument far out', () =>
    google(
      { functionCall: { name: 'look', willContinue: true } },
      { functionCall: { partialArgs: [{ jsonPath: '$.a[4000000000]', stringValue: 'x' }] } },
    ),
  ),
]

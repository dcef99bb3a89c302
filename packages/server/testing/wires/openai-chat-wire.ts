import { event, scriptedUsage, type Wire } from './wire.ts'

/** POST /v1/chat/completions with `stream: true`, the protocol of every OpenAI-compatible server. */
export function openAiChatWire(): Wire {
  let model = ''
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason }] })
  const { input, output } = scriptedUsage
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  const reasons = { stop: 'stop', length: 'length', refused: 'content_filter', calls: 'tool_calls' }
  return {
    begin: (id) => {
      model = id
      return [chunk({ role: 'assistant', content: '' })]
    },
    text: (content) => [chunk({ content })],
    call: (index, name, args) => {
      const half = Math.ceil(args.length / 2)
      const first = { index, id: `call_${index}`, type: 'function', function: { name, arguments: args.slice(0, half) } }
      return [chunk({ tool_calls: [first] }), chunk({ tool_calls: [{ index, function: { arguments: args.slice(half) } }] })]
    },
    error: (code, message) => [event({ error: { message, type: code, code, param: null } })],
    end: (finish) => [
      chunk({}, reasons[finish]),
      event({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices: [], usage }),
      event('[DONE]'),
    ],
  }
}

import { event, scriptedUsage, type Wire } from './wire.ts'

/** POST /v1/messages with `stream: true`. */
export function anthropicWire(): Wire {
  let index = 0
  let open = false
  const send = (type: string, data: object = {}) => event({ type, ...data }, type)
  const stop = () => {
    if (!open) return []
    open = false
    return [send('content_block_stop', { index: index++ })]
  }
  const reasons = { stop: 'end_turn', length: 'max_tokens', refused: 'refusal', calls: 'tool_use' }
  return {
    begin: (model) => {
      const usage = { input_tokens: scriptedUsage.input, output_tokens: 1 }
      const message = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      }
      return [send('message_start', { message }), send('ping')]
    },
    text: (text) => {
      const first = open ? [] : [send('content_block_start', { index, content_block: { type: 'text', text: '' } })]
      open = true
      return [...first, send('content_block_delta', { index, delta: { type: 'text_delta', text } })]
    },
    call: (n, name, args) => {
      const before = stop()
      open = true
      return [
        ...before,
        send('content_block_start', { index, content_block: { type: 'tool_use', id: `toolu_${n}`, name, input: {} } }),
        send('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: args } }),
      ]
    },
    error: (type, message) => [send('error', { error: { type, message } })],
    end: (finish) => [
      ...stop(),
      send('message_delta', {
        delta: { stop_reason: reasons[finish], stop_sequence: null },
        usage: { output_tokens: scriptedUsage.output },
      }),
      send('message_stop'),
    ],
  }
}

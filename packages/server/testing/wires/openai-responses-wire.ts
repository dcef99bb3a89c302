import { event, scriptedUsage, type Wire } from './wire.ts'

/** POST /v1/responses with `stream: true`, the protocol of OpenAI's own models. */
export function openAiResponsesWire(): Wire {
  let response: Record<string, unknown> = {}
  let sequence_number = 0
  const send = (type: string, data: object) => event({ type, sequence_number: sequence_number++, ...data }, type)
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
  let said = ''
  const { input, output } = scriptedUsage
  const usage = {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  }
  const done = () => {
    const content = [{ type: 'output_text', text: said, annotations: [] }]
    return said ? [send('response.output_item.done', { output_index: 0, item: { ...item, status: 'completed', content } })] : []
  }
  return {
    begin: (model) => {
      response = { id: 'resp_1', object: 'response', created_at: 1, status: 'in_progress', model, output: [], usage: null }
      return [send('response.created', { response })]
    },
    text: (delta) => {
      const first = said === '' ? [send('response.output_item.added', { output_index: 0, item })] : []
      said += delta
      return [
        ...first,
        send('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta, logprobs: [] }),
      ]
    },
    call: (n, name, args) => {
      const output_index = n + 1
      const call = { type: 'function_call', id: `fc_${n}`, call_id: `call_${n}`, name, arguments: '', status: 'in_progress' }
      return [
        send('response.output_item.added', { output_index, item: call }),
        send('response.function_call_arguments.delta', { item_id: call.id, output_index, delta: args }),
        send('response.function_call_arguments.done', { item_id: call.id, output_index, arguments: args }),
        send('response.output_item.done', { output_index, item: { ...call, arguments: args, status: 'completed' } }),
      ]
    },
    error: (code, message) => [send('error', { code, message, param: null })],
    end: (finish) => {
      const reasons = { length: 'max_output_tokens', refused: 'content_filter' } as const
      if (finish === 'stop' || finish === 'calls') {
        return [...done(), send('response.completed', { response: { ...response, status: 'completed', usage } })]
      }
      const incomplete_details = { reason: reasons[finish] }
      return [
        ...done(),
        send('response.incomplete', { response: { ...response, status: 'incomplete', incomplete_details, usage } }),
      ]
    },
  }
}

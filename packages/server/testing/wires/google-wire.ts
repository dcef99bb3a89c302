import { event, scriptedUsage, type Wire } from './wire.ts'

/** POST /v1beta/models/{model}:streamGenerateContent?alt=sse. */
export function googleWire(): Wire {
  const { input, output } = scriptedUsage
  const usageMetadata = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output }
  const chunk = (parts: object[], finishReason?: string) =>
    event({
      candidates: [{ content: { parts, role: 'model' }, index: 0, ...(finishReason ? { finishReason } : {}) }],
      usageMetadata,
    })
  const reasons = { stop: 'STOP', length: 'MAX_TOKENS', refused: 'SAFETY', calls: 'STOP' }
  return {
    begin: () => [],
    text: (text) => [chunk([{ text }])],
    call: (_n, name, args) => [chunk([{ functionCall: { name, args: JSON.parse(args) as unknown } }])],
    error: (status, message) => [event({ error: { code: 503, message, status } })],
    end: (finish) => [chunk([{ text: '' }], reasons[finish])],
  }
}

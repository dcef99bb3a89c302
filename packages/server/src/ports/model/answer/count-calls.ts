/** The tool calls in one event. */
export interface EventCalls {
  /** Calls that begin in it. */
  begun: number
  /** Calls that end in it, if the provider marks the end separately. */
  ended: number
  /** Length of the arguments in it. */
  argumentLength: number
  /** Blocks, sources and files. The SDK keeps each until the end of the answer. */
  entries: number
  /** Parts that were not requested, and that take adapters long to parse. */
  isUnwanted: boolean
}

type Fields = Record<string, unknown>

/**
 * Counts the tool calls in an event of any provider. It examines only the shape and not the provider, because an
 * adapter parses every shape, and an untrusted server may send any of them.
 */
export class CallCounter {
  readonly #chatCalls = new Set<string>()

  count(event: unknown): EventCalls {
    const seen: EventCalls = { begun: 0, ended: 0, argumentLength: 0, entries: 0, isUnwanted: false }
    if (!isFields(event)) return seen
    for (const choice of listOf(event['choices'])) this.#chat(choice, seen)
    for (const candidate of listOf(event['candidates'])) google(candidate, seen)
    anthropic(event, seen)
    openAiResponses(event, seen)
    return seen
  }

  /**
   * Chat completions: an entry begins a call or continues one. An entry that an adapter may treat as a beginning
   * counts as one.
   */
  #chat(choice: unknown, seen: EventCalls): void {
    const delta = isFields(choice) ? choice['delta'] : undefined
    for (const entry of listOf(isFields(delta) ? delta['tool_calls'] : undefined)) {
      const call = isFields(entry) ? entry : {}
      const named = isFields(call['function']) ? call['function'] : {}
      const [name, args] = [textOf(named['name']), textOf(named['arguments'])]
      seen.argumentLength += args.length
      if (this.#mayBegin(call, name, args)) seen.begun++
    }
  }

  #mayBegin({ index, id }: Fields, name: string, args: string): boolean {
    // Some servers repeat id and name with every piece: the pieces are one call, unless the arguments begin again.
    const key = JSON.stringify([index, id, name])
    const isKnown = this.#chatCalls.has(key)
    this.#chatCalls.add(key)
    const isPiece = name === '' && textOf(id) === '' && this.#chatCalls.has(JSON.stringify([index]))
    this.#chatCalls.add(JSON.stringify([index]))
    if (isPiece) return false
    return !isKnown || (name !== '' && ((index === undefined && id === undefined) || /^\s*[[{]/.test(args)))
  }
}

function google(candidate: unknown, seen: EventCalls): void {
  const content = isFields(candidate) ? candidate['content'] : undefined
  for (const part of listOf(isFields(content) ? content['parts'] : undefined)) {
    if (!isFields(part)) continue
    const call = part['functionCall']
    if (call !== undefined && call !== null) seen.begun++
    if (part['executableCode'] || part['toolCall']) seen.begun++
    if (part['inlineData']) seen.entries++
    // Arguments are sent in pieces only if that was requested. A path in them may name entry four billion of an
    // array.
    if (isFields(call) && (call['partialArgs'] || call['willContinue'])) seen.isUnwanted = true
  }
}

function anthropic({ type, content_block: block, delta }: Fields, seen: EventCalls): void {
  if (type === 'content_block_start') seen.entries++
  if (type === 'content_block_start' && isFields(block) && block['type'] !== 'text' && block['type'] !== 'thinking') seen.begun++
  if (type !== 'content_block_delta' || !isFields(delta)) return
  seen.argumentLength += textOf(delta['partial_json']).length
  if (delta['citation']) seen.entries++
}

function openAiResponses({ type, item, delta, arguments: whole }: Fields, seen: EventCalls): void {
  if (typeof type !== 'string' || !type.startsWith('response.')) return
  const isCall = isFields(item) && item['type'] !== 'message' && item['type'] !== 'reasoning'
  if (/^response\.(output_item|content_part|reasoning_summary_part|output_text\.annotation)\.added$/.test(type)) seen.entries++
  if (type === 'response.output_item.added' && isCall) seen.begun++
  if (type === 'response.output_item.done' && isCall) seen.ended++
  if (type.endsWith('.delta') && !/text|reasoning|refusal/.test(type)) seen.argumentLength += textOf(delta).length
  if (type.endsWith('arguments.done')) seen.argumentLength += textOf(whole).length
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

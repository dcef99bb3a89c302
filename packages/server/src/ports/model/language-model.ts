import { isStepCount, streamText, ToolChoiceViolationError, type LanguageModel, type TextStreamPart, type ToolSet } from 'ai'
import { cutText } from './cut-text.ts'
import { badAnswer, explainFailure, refused, tookTooLong } from './explain-failure.ts'
import { estimateTokens, fitHistory } from './fit-history.ts'
import type { Model, ModelReply, ModelRequest } from './model.ts'
import { offerTools } from './tools/offer-tools.ts'
import { watchForStall } from './watch-for-stall.ts'
import { writeInstructions, writeMessages } from './write-messages.ts'

export interface ModelLimits {
  /** Time limit of the whole reply, including tools. */
  totalMs: number
  /**
   * Time limit until the first token of each step, including headers and tools. Reasoning models may be silent for
   * long.
   */
  firstWordMs: number
  /** Between words. */
  idleMs: number
  /** The largest message of a room. */
  textBytes: number
  historyTokens: number
  toolCalls: number
  /** The number of model calls per reply. The last one may not call a tool. */
  steps: number
}

const defaults: ModelLimits = {
  totalMs: 180_000,
  firstWordMs: 90_000,
  idleMs: 30_000,
  textBytes: 16_384,
  historyTokens: 24_000,
  toolCalls: 8,
  steps: 5,
}

interface Options {
  /** The provider's name as people know it. */
  provider: string
  model: Exclude<LanguageModel, string>
  providerOptions?: Parameters<typeof streamText>[0]['providerOptions']
  limits?: Partial<ModelLimits>
}

// The SDK would print warnings with a model and a setting at each call, bypassing the log.
globalThis.AI_SDK_LOG_WARNINGS = false

/** A model behind a provider. It streams, so that a provider that stalls is noticed. */
export function languageModel({ provider, model, providerOptions, limits: given }: Options): Model {
  const limits = { ...defaults, ...given }
  return {
    reply: async (request) => {
      request.signal.throwIfAborted()
      // Aborted at the end whatever happens: no connection to a provider outlives the reply it was for.
      const done = new AbortController()
      const watch = watchForStall(() => done.abort())
      try {
        const reply = await read(stream(request, done.signal), request, watch.expect)
        if (reply.text === '') throw badAnswer(provider)
        return reply
      } catch (error) {
        request.signal.throwIfAborted()
        throw explainFailure(error, provider, model.modelId)
      } finally {
        watch.stop()
        done.abort()
      }
    },
  }

  function stream({ instructions, history, tools, metadata, signal }: ModelRequest, done: AbortSignal): Streamed {
    const offered = offerTools(tools, limits.toolCalls)
    const result = streamText({
      model,
      instructions: writeInstructions(instructions, { hasTools: tools.length > 0 }),
      messages: writeMessages(fitHistory(history, limits.historyTokens), metadata),
      ...(tools.length > 0 ? { tools: offered.set } : {}),
      stopWhen: isStepCount(limits.steps),
      prepareStep: ({ stepNumber }) =>
        tools.length > 0 && (stepNumber === limits.steps - 1 || offered.spent()) ? { toolChoice: 'none' } : undefined,
      ...(providerOptions ? { providerOptions } : {}),
      maxRetries: 0,
      abortSignal: AbortSignal.any([signal, done]),
      timeout: limits.totalMs,
      // A provider may name a file's address in its answer. The SDK would get it past the guarded egress.
      experimental_download: async (files) => {
        if (files.length > 0) throw badAnswer(provider)
        return []
      },
      // Without one, errors are printed with the request and the provider's answer in them.
      onError: () => {},
    })
    return { parts: result.stream, calls: offered.calls }
  }

  async function read(
    { parts, calls }: Streamed,
    request: ModelRequest,
    expectWithin: (ms: number) => void,
  ): Promise<ModelReply> {
    // Text before a tool call ("let me look") counts only where the last step says nothing.
    let said = ''
    let text = ''
    let textBytes = 0
    let usage: ModelReply['usage'] | undefined
    expectWithin(limits.firstWordMs)
    for await (const part of parts) {
      if (part.type === 'error' && !ToolChoiceViolationError.isInstance(part.error)) throw part.error
      if (part.type === 'abort') throw tookTooLong(provider)
      if (part.type === 'text-delta') {
        text += part.text
        // Of the piece alone: measuring the whole again with each piece would go through it thousands of times.
        textBytes += Buffer.byteLength(part.text)
        if (textBytes > limits.textBytes) break
      }
      if (isWord(part)) expectWithin(limits.idleMs)
      if (part.type === 'tool-call' || part.type === 'finish-step') expectWithin(limits.firstWordMs)
      if (part.type === 'finish') usage = countUsage(part.totalUsage)
      if (part.type !== 'finish-step') continue
      if (part.finishReason === 'content-filter') throw refused(provider)
      said = tidy(text) || said
      text = ''
      textBytes = 0
    }
    said = tidy(text) || said
    return { text: cutText(said, limits.textBytes), usage: usage ?? guessUsage(request, said), toolCalls: calls() }
  }
}

interface Streamed {
  parts: ReturnType<typeof streamText>['stream']
  calls: () => number
}

/** Whether an event is progress of the model. Keep-alive events are not. */
function isWord(part: TextStreamPart<ToolSet>): boolean {
  if (part.type === 'tool-input-delta') return part.delta !== ''
  return (part.type === 'text-delta' || part.type === 'reasoning-delta') && part.text !== ''
}

/** A room rejects NUL characters. */
function tidy(text: string): string {
  return text.replaceAll('\0', '').trim()
}

function countUsage({ inputTokens, outputTokens }: { inputTokens: number | undefined; outputTokens: number | undefined }) {
  return inputTokens === undefined || outputTokens === undefined ? undefined : { inputTokens, outputTokens }
}

function guessUsage({ instructions, history }: ModelRequest, text: string): ModelReply['usage'] {
  const input = history.reduce((sum, turn) => sum + estimateTokens(turn.text), estimateTokens(instructions))
  return { inputTokens: input, outputTokens: estimateTokens(text) }
}

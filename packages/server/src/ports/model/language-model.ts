import { isStepCount, streamText, ToolChoiceViolationError, type LanguageModel, type TextStreamPart, type ToolSet } from 'ai'
import { cutText } from './cut-text.ts'
import { badAnswer, explainFailure, refused, tookTooLong } from './explain-failure.ts'
import { estimateUsage, fitHistory } from './fit-history.ts'
import { StepMeter } from './step-meter.ts'
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
  /** The longest pause between words. */
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
  /** The provider's name, as people know it. */
  provider: string
  model: Exclude<LanguageModel, string>
  providerOptions?: Parameters<typeof streamText>[0]['providerOptions']
  limits?: Partial<ModelLimits>
}

// Without this, the SDK would print warnings with a model and a setting at each call, bypassing the log.
globalThis.AI_SDK_LOG_WARNINGS = false

/** A model behind a provider. It streams, so that a provider that stalls is noticed. */
export function languageModel({ provider, model, providerOptions, limits: given }: Options): Model {
  const limits = { ...defaults, ...given }
  return {
    reply: async (request) => {
      request.signal.throwIfAborted()
      // Aborted at the end in any case, so that no connection to a provider outlives its reply.
      const done = new AbortController()
      const watch = watchForStall(() => done.abort())
      const meter = new StepMeter(request)
      try {
        const reply = await read(stream(request, done.signal, meter), request, watch.expect, meter)
        if (reply.text === '') throw badAnswer(provider)
        return reply
      } catch (error) {
        request.signal.throwIfAborted()
        if (meter.failure) throw meter.failure.error
        throw explainFailure(error, provider, model.modelId)
      } finally {
        watch.stop()
        done.abort()
      }
    },
  }

  function stream(request: ModelRequest, done: AbortSignal, meter: StepMeter): Streamed {
    const { instructions, history, tools, metadata, signal } = request
    const offered = offerTools(tools, limits.toolCalls, request.meter)
    const result = streamText({
      model,
      instructions: writeInstructions(instructions, { hasTools: tools.length > 0 }),
      messages: writeMessages(fitHistory(history, limits.historyTokens), metadata),
      ...(tools.length > 0 ? { tools: offered.set } : {}),
      stopWhen: isStepCount(limits.steps),
      prepareStep: async ({ stepNumber, steps, initialInstructions, messages }) => {
        await meter.begin(steps.at(-1), [initialInstructions, messages])
        return tools.length > 0 && (stepNumber === limits.steps - 1 || offered.spent()) ? { toolChoice: 'none' } : undefined
      },
      ...(providerOptions ? { providerOptions } : {}),
      maxRetries: 0,
      abortSignal: AbortSignal.any([signal, done]),
      timeout: limits.totalMs,
      // A provider may name the address of a file in its answer. The SDK would fetch it past the guarded egress.
      experimental_download: async (files) => {
        if (files.length > 0) throw badAnswer(provider)
        return []
      },
      // Without a handler, the SDK prints errors with the request and the provider's answer in them.
      onError: () => {},
    })
    return { parts: result.stream, calls: offered.calls }
  }

  async function read(
    { parts, calls }: Streamed,
    request: ModelRequest,
    expectWithin: (ms: number) => void,
    meter: StepMeter,
  ): Promise<ModelReply> {
    // Text before a tool call ("let me look") counts only if the last step has no text.
    let said = ''
    let text = ''
    let textBytes = 0
    let usage: ModelReply['usage'] | undefined
    let lastUsage: Parameters<StepMeter['end']>[0]
    expectWithin(limits.firstWordMs)
    for await (const part of parts) {
      if (part.type === 'error' && !ToolChoiceViolationError.isInstance(part.error)) throw part.error
      if (part.type === 'abort') throw tookTooLong(provider)
      if (part.type === 'text-delta') {
        text += part.text
        // Only the piece is measured: measuring the whole text again for each piece would be quadratic.
        textBytes += Buffer.byteLength(part.text)
        if (textBytes > limits.textBytes) break
      }
      // The step before has its own count.
      if (part.type === 'start-step') lastUsage = undefined
      if (isWord(part)) expectWithin(limits.idleMs)
      if (part.type === 'tool-call' || part.type === 'finish-step') expectWithin(limits.firstWordMs)
      if (part.type === 'finish') usage = countUsage(part.totalUsage)
      if (part.type !== 'finish-step') continue
      lastUsage = part.usage
      if (part.finishReason === 'content-filter') throw refused(provider)
      said = tidy(text) || said
      text = ''
      textBytes = 0
    }
    said = tidy(text) || said
    await meter.end(lastUsage, said)
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
  return estimateUsage([instructions, ...history.map((turn) => turn.text)], [text])
}

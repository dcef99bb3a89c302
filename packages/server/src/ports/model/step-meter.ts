import type { StepResult, ToolSet } from 'ai'
import { estimateUsage } from './fit-history.ts'
import { type Meter, StoppedByMeterError, countTokens } from './meter.ts'
import type { ModelReply, ModelRequest } from './model.ts'

type Usage = ModelReply['usage']
/** As a provider reports it. */
type Reported = { readonly [Name in keyof Usage]: number | undefined }

/**
 * Passes each step of a reply to the request's meter, if it has one. The SDK turns what a callback throws into an error
 * of its own, so the reason is kept here.
 */
export class StepMeter {
  readonly #meter: Meter | undefined
  readonly #tools: ModelRequest['tools']
  /** What the model reads in the current step. */
  #read: unknown[] = []
  #failure: { error: unknown } | undefined

  constructor({ meter, tools }: Pick<ModelRequest, 'meter' | 'tools'>) {
    this.#meter = meter
    this.#tools = tools
  }

  /** Why the meter ended the reply; undefined: it did not. */
  get failure(): { error: unknown } | undefined {
    return this.#failure
  }

  /** Before each step: records the one before. Rejects where this one may not begin. */
  async begin(before: Pick<StepResult<ToolSet>, 'usage' | 'content'> | undefined, read: unknown[]): Promise<void> {
    if (before && !(await this.#answered(before.usage, JSON.stringify(before.content)))) {
      this.#failure = { error: new StoppedByMeterError() }
      throw this.#failure.error
    }
    this.#read = read
  }

  /** After the last step. Its answer exists, so the meter no longer decides about it. */
  async end(reported: Reported | undefined, text: string): Promise<void> {
    await this.#answered(reported, text)
  }

  async #answered(reported: Reported | undefined, written: string): Promise<boolean> {
    if (!this.#meter) return true
    try {
      return await this.#meter.answered(this.#usageOf(reported, written))
    } catch (error) {
      this.#failure = { error }
      throw error
    }
  }

  #usageOf(reported: Reported | undefined, written: string): Usage {
    const inputTokens = countTokens(reported?.inputTokens)
    const outputTokens = countTokens(reported?.outputTokens)
    if (inputTokens !== undefined && outputTokens !== undefined) return { inputTokens, outputTokens }
    const offered = this.#tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
    const estimated = estimateUsage([JSON.stringify(offered), JSON.stringify(this.#read)], [written])
    return { inputTokens: inputTokens ?? estimated.inputTokens, outputTokens: outputTokens ?? estimated.outputTokens }
  }
}

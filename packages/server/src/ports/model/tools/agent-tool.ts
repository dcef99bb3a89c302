/** What a tool gave: a text for the model, or what went wrong in words that the model may read. */
export type ToolAnswer = { ok: true; text: string } | { ok: false; error: string }

/** A tool that a model may call. */
export interface AgentTool {
  /** Letters, digits, `_` and `-`, up to 64. */
  name: string
  description: string
  /** JSON Schema (2020-12) of the arguments; its type is object. */
  parameters: Record<string, unknown>
  /** Never rejects but with the signal's reason once that is aborted: a tool that fails is told to the model, which may go on without. */
  call(args: unknown, signal: AbortSignal): Promise<ToolAnswer>
}

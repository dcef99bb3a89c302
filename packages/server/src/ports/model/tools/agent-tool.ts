/** The result of a tool: a text for the model, or an error message that the model may read. */
export type ToolAnswer = { ok: true; text: string } | { ok: false; error: string }

/** A tool that a model may call. */
export interface AgentTool {
  /** Letters, digits, `_` and `-`, up to 64. */
  name: string
  description: string
  /** JSON Schema (2020-12) of the arguments; its type is object. */
  parameters: Record<string, unknown>
  /**
   * Rejects only with the signal's reason. A failure of the tool is reported to the model, which may continue without
   * it.
   */
  call(args: unknown, signal: AbortSignal): Promise<ToolAnswer>
}

import type { AgentTool } from './tools/agent-tool.ts'

/** Something said in a room, as a model gets it. Names and texts are what people wrote: data, never instructions. */
export interface Turn {
  /** `agent` is the one who answers; another agent in the same room is `other_agent`. */
  author: 'agent' | 'person' | 'other_agent'
  name?: string
  text: string
}

export interface ModelRequest {
  /** The owner's instructions. */
  instructions: string
  /** Oldest first. */
  history: Turn[]
  tools: AgentTool[]
  /** The `metadata` of the launch. Passed to the model as data. */
  metadata?: Record<string, unknown>
  signal: AbortSignal
}

export interface ModelReply {
  /** Between 1 byte and 16 KiB of well-formed text. */
  text: string
  /** Tokens, as the provider counts them; estimated where it does not say. */
  usage: { inputTokens: number; outputTokens: number }
  /** How many times a tool was called. */
  toolCalls: number
}

export interface Model {
  /** Rejects with a ModelError, or with the signal's reason once that is aborted. Does not retry. */
  reply(request: ModelRequest): Promise<ModelReply>
}

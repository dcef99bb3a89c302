import type { Meter } from './meter.ts'
import type { AgentTool } from './tools/agent-tool.ts'

/** A message in a room, as a model receives it. Names and texts are written by people: data, never instructions. */
export interface Turn {
  /** `agent` is the agent that answers; any other agent in the same room is `other_agent`. */
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
  /** Absent: nothing is metered. */
  meter?: Meter | undefined
  signal: AbortSignal
}

export interface ModelReply {
  /** Well-formed text of 1 byte to 16 KiB. */
  text: string
  /** Tokens as the provider counts them; estimated if it does not report them. */
  usage: { inputTokens: number; outputTokens: number }
  /** The number of tool calls. */
  toolCalls: number
}

export interface Model {
  /**
   * Rejects with a ModelError, with what the meter rejects with, with a StoppedByMeterError, or with the signal's reason if it was aborted. Does not
   * retry.
   */
  reply(request: ModelRequest): Promise<ModelReply>
}

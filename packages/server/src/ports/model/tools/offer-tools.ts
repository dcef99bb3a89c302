import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import type { AgentTool } from './agent-tool.ts'

export interface OfferedTools {
  set: ToolSet
  /** How many calls were made. */
  calls: () => number
  /** Whether the calls of this turn are used up. */
  spent: () => boolean
}

/** The tools as the SDK takes them, with at most so many calls among all of them. */
export function offerTools(tools: AgentTool[], maxCalls: number): OfferedTools {
  let calls = 0
  const set = tools.map((tool) => [
    tool.name,
    dynamicTool({
      description: tool.description,
      inputSchema: jsonSchema(tool.parameters),
      execute: async (args, { abortSignal }) => {
        if (calls >= maxCalls) throw new Error('No more tool calls in this turn: answer with what you have.')
        calls++
        const answer = await tool.call(args, abortSignal ?? new AbortController().signal)
        // Thrown, so that the provider is told that this is a failure in the way of its own protocol.
        if (!answer.ok) throw new Error(answer.error)
        return answer.text
      },
    }),
  ])
  return { set: Object.fromEntries(set) as ToolSet, calls: () => calls, spent: () => calls >= maxCalls }
}

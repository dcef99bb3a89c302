import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import { cutText } from '../cut-text.ts'
import { quote } from '../write-messages.ts'
import type { AgentTool } from './agent-tool.ts'
import { maxToolTextBytes } from './tool-text.ts'

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
        if (!answer.ok) throw new Error(marked('[the tool failed]', answer.error))
        return marked('[the tool answered]', answer.text)
      },
    }),
  ])
  return { set: Object.fromEntries(set) as ToolSet, calls: () => calls, spent: () => calls >= maxCalls }
}

/** As data: what a server says is read by a model that also reads its owner's instructions. */
function marked(heading: string, text: string): string {
  return cutText(quote(heading, text), maxToolTextBytes)
}

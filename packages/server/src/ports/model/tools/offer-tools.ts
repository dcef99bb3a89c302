import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import type { Meter } from '../meter.ts'
import { cutText } from '../cut-text.ts'
import { quote } from '../write-messages.ts'
import type { AgentTool } from './agent-tool.ts'
import { maxToolTextBytes } from './tool-text.ts'

export interface OfferedTools {
  set: ToolSet
  /** How many calls were made. */
  calls: () => number
  /** Whether the limit of calls in this turn is reached. */
  spent: () => boolean
}

/** Offers the tools to the SDK, with a common limit of calls. The meter counts each before it is made. */
export function offerTools(tools: AgentTool[], maxCalls: number, meter?: Meter): OfferedTools {
  let calls = 0
  const set = tools.map((tool) => [
    tool.name,
    dynamicTool({
      description: tool.description,
      inputSchema: jsonSchema(tool.parameters),
      execute: async (args, { abortSignal }) => {
        if (calls >= maxCalls) throw new Error('No more tool calls in this turn: answer with what you have.')
        calls++
        // No model reads this: the reply ends before the next step.
        if (meter && !(await meter.mayCallTool())) throw new Error('No more tool calls: the budget is used up.')
        const answer = await tool.call(args, abortSignal ?? new AbortController().signal)
        // Thrown, so that the adapter reports a failure to the provider in the form of its own protocol.
        if (!answer.ok) throw new Error(marked('[the tool failed]', answer.error))
        return marked('[the tool answered]', answer.text)
      },
    }),
  ])
  return { set: Object.fromEntries(set) as ToolSet, calls: () => calls, spent: () => calls >= maxCalls }
}

/** Marks the text as data: the model that reads a tool's answer also reads its owner's instructions. */
function marked(heading: string, text: string): string {
  return cutText(quote(heading, text), maxToolTextBytes)
}

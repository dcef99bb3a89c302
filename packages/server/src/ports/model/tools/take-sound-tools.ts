import type { AgentTool } from './agent-tool.ts'
import { findSchemaProblem } from './find-schema-problem.ts'
import { inTurn } from './in-turn.ts'

/**
 * What checking the schemas of one agent's tools may take of the processor, all together. An honest one takes less
 * than one.
 */
const maxTotalMs = 250
/** By the clock: for what nobody has thought of. The worst that is known in 16 KiB takes 10. */
const maxEachMs = 200

export interface SoundTools {
  tools: AgentTool[]
  /** How many were not looked at, since the time for it was used up. */
  unchecked: number
}

/**
 * The tools whose schemas a provider will take, at most so many: one that it refuses would cost the whole answer, not
 * that tool alone. What an MCP server says of its tools was never checked before, and may be made to take long.
 */
export async function takeSoundTools(tools: AgentTool[], atMost: number, signal: AbortSignal): Promise<SoundTools> {
  const sound: AgentTool[] = []
  let leftMs = maxTotalMs
  for (const [i, tool] of tools.entries()) {
    if (sound.length >= atMost) break
    if (leftMs <= 0) return { tools: sound, unchecked: tools.length - i }
    const { problem, tookMs } = await inTurn(() => checkTimed(tool))
    signal.throwIfAborted()
    leftMs -= tookMs
    if (!problem) sound.push(tool)
  }
  return { tools: sound, unchecked: 0 }
}

function checkTimed({ parameters }: AgentTool) {
  // Of this thread, not of the clock: nobody loses tools because the machine is busy.
  const before = process.threadCpuUsage()
  const problem = findSchemaProblem(parameters, maxEachMs)
  const { user, system } = process.threadCpuUsage(before)
  return { problem, tookMs: (user + system) / 1_000 }
}

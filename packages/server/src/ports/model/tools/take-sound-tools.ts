import type { AgentTool } from './agent-tool.ts'
import { findSchemaProblem } from './find-schema-problem.ts'
import { inTurn } from './in-turn.ts'

/**
 * The processor time for checking the schemas of one agent's tools, in total. A normal schema takes less than 1 ms.
 */
const maxTotalMs = 250
/** The limit of one check, as a safeguard. The slowest known schema of 16 KiB takes 10 ms. */
const maxEachMs = 200

export interface SoundTools {
  tools: AgentTool[]
  /** How many tools were not checked, because the time was used up. */
  unchecked: number
}

/**
 * Returns the tools whose schemas a provider will accept, up to a maximum. A provider rejects the whole request, and
 * not just one tool, if a schema is invalid. The tools of an MCP server were not checked at registration, and may be
 * designed to take long.
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
  // Processor time of this thread and not wall-clock time, so that a busy machine loses no tools.
  const before = process.threadCpuUsage()
  const problem = findSchemaProblem(parameters, maxEachMs)
  const { user, system } = process.threadCpuUsage(before)
  return { problem, tookMs: (user + system) / 1_000 }
}

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'

export interface HostileServers {
  /** A provider with OpenAI's protocol. Its models are named like `hostile-7`. */
  providerUrl: string
  /** An MCP server each. */
  mcpUrl(which: number): string
  /** An agent that runs elsewhere each. */
  agentUrl(which: number): string
  close(): Promise<void>
}

/** Untrusted providers, MCP servers and agents whose answers take long to read. */
export async function startHostileServers(): Promise<HostileServers> {
  const child = fork(new URL('hostile-servers-process.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  // They represent other machines, which use none of this machine's processor time.
  setPriority(child.pid!, 19)
  const [{ http, agents }] = (await once(child, 'message')) as [{ http: number; agents: number[] }]
  return {
    providerUrl: `http://127.0.0.1:${http}/v1`,
    mcpUrl: (which) => `http://127.0.0.1:${http}/mcp/${which}`,
    agentUrl: (which) => `http://127.0.0.1:${agents[which % agents.length]}/`,
    close: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

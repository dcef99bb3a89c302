import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'

export interface HostileServers {
  /** A provider that speaks OpenAI's protocol: `hostile-7` is a model of it. */
  providerUrl: string
  /** An MCP server each. */
  mcpUrl(which: number): string
  /** An agent that runs elsewhere each. */
  agentUrl(which: number): string
  close(): Promise<void>
}

/** Providers, MCP servers and agents of strangers, whose answers are made to take long. */
export async function startHostileServers(): Promise<HostileServers> {
  const child = fork(new URL('hostile-servers-process.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  // They stand for machines elsewhere, which take nothing of this one's processors.
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

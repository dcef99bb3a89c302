import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../packages/cli/bin/atrium.cjs', import.meta.url))

interface ToolAnswer {
  isError: boolean
  /** The text block. */
  text: string
  // What a test looks into is its own business: answers are asserted, not typed.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any
}

export interface TestMcp {
  client: Client
  /** Names of the tools in the list. */
  names(): Promise<string[]>
  call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>
  close(): Promise<void>
}

/** An AI client that is connected to /mcp of the origin. */
export async function connectHttp(origin: string, key: string, headers: Record<string, string> = {}): Promise<TestMcp> {
  const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } }
  return connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }))
}

/** An AI client that starts `atrium mcp`, from the source folder or as the program at `command`. */
export async function connectStdio(
  origin: string,
  env: Record<string, string>,
  { args = [], command = [process.execPath, bin] }: { args?: string[]; command?: string[] } = {},
): Promise<TestMcp & { pid: number }> {
  const [program, ...first] = command as [string, ...string[]]
  const settings = { PATH: process.env['PATH']!, ATRIUM_PUBLIC_URL: origin, ...env }
  const transport = new StdioClientTransport({
    command: program,
    args: [...first, 'mcp', ...args],
    env: settings,
    stderr: 'pipe',
  })
  return { ...(await connect(transport)), pid: transport.pid! }
}

const open = new Set<Client>()

/** Ends the clients of a failed test, because a child process would keep the test run alive. */
export async function closeClients(): Promise<void> {
  await Promise.all([...open].map((client) => client.close()))
}

async function connect(transport: StreamableHTTPClientTransport | StdioClientTransport): Promise<TestMcp> {
  const client = new Client({ name: 'a-test', version: '1.0.0' })
  open.add(client)
  await client.connect(transport)
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => {
      const answer = await client.callTool({ name, arguments: args })
      const [block] = answer.content
      if (block?.type !== 'text') throw new Error(`${name} answered without a text`)
      const data = (answer.structuredContent as { data?: unknown } | undefined)?.data
      return { isError: answer.isError === true, text: block.text, data }
    },
    close: () => {
      open.delete(client)
      return client.close()
    },
  }
}

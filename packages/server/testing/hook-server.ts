import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'

/** A delivery as it arrived. */
export interface Hook {
  headers: Record<string, string>
  /** The body's bytes as text. The signature covers exactly these bytes. */
  text: string
  event: HookEvent
}

interface HookEvent {
  id: string
  type: string
  created_at: string
  tenant_id: string
  sequence: number
  data: Record<string, unknown>
}

/** hang: never answers. A number: that status. */
type Reply = number | 'hang' | ((hook: Hook, res: ServerResponse) => void)

export interface HookServer {
  url: string
  /** In the order of their arrival. */
  hooks: Hook[]
  /** How the next ones are answered. */
  reply: Reply
  close(): Promise<void>
}

/** An endpoint on loopback that records what it receives. */
export async function startHookServer(reply: Reply = 204): Promise<HookServer> {
  const hooks: Hook[] = []
  const server = createServer((req, res) => {
    void readText(req).then((text) => {
      const hook: Hook = { headers: req.headers as Record<string, string>, text, event: JSON.parse(text) as HookEvent }
      hooks.push(hook)
      if (typeof hookServer.reply === 'function') hookServer.reply(hook, res)
      else if (hookServer.reply !== 'hang') res.writeHead(hookServer.reply).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const hookServer: HookServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    hooks,
    reply,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
  return hookServer
}

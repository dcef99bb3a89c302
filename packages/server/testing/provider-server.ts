import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { anthropicWire } from './wires/anthropic-wire.ts'
import { googleWire } from './wires/google-wire.ts'
import { openAiChatWire } from './wires/openai-chat-wire.ts'
import { openAiResponsesWire } from './wires/openai-responses-wire.ts'
import type { Script, Wire } from './wires/wire.ts'

export interface ProviderRequest {
  path: string
  headers: Record<string, string | string[] | undefined>
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

export interface ProviderServer {
  /** Where it is, without a path. */
  origin: string
  /** The base address for OpenAI-compatible clients. */
  compatibleUrl: string
  requests: ProviderRequest[]
  /** Answers that have started and whose connection is open. */
  open: () => number
  /** The next answers, in this order. After them, `otherwise` is called. */
  script(...answers: Script[]): void
  /** Releases answers that a silent script delays. */
  refuseSilent(status: number, body: object): void
  otherwise: (request: ProviderRequest) => Script
  close(): Promise<void>
}

const wires: [RegExp, () => Wire][] = [
  [/^\/v1\/chat\/completions$/, openAiChatWire],
  [/^\/v1\/responses$/, openAiResponsesWire],
  [/^\/v1\/messages$/, anthropicWire],
  [/^\/v1beta\/models\/[^/]+:streamGenerateContent$/, googleWire],
]

/**
 * A server on loopback that speaks the streaming HTTP of OpenAI (both APIs), Anthropic and Google, and answers what a
 * test scripts.
 */
export async function startProviderServer(): Promise<ProviderServer> {
  const scripts: Script[] = []
  const silent: ServerResponse[] = []
  let open = 0
  const server = createServer((req, res) => {
    open++
    res.once('close', () => open--)
    void readText(req).then((text) => {
      const path = new URL(req.url ?? '/', 'http://x').pathname
      const wire = wires.find(([pattern]) => pattern.test(path))?.[1]()
      const request: ProviderRequest = { path, headers: req.headers, body: text ? JSON.parse(text) : undefined }
      provider.requests.push(request)
      if (!wire) return res.writeHead(404).end()
      const script = scripts.shift() ?? provider.otherwise(request)
      if (script.silent) return silent.push(res)
      return play(res, wire, script, String(request.body.model ?? ''))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider: ProviderServer = {
    origin,
    compatibleUrl: `${origin}/v1`,
    requests: [],
    open: () => open,
    script: (...answers) => void scripts.push(...answers),
    refuseSilent: (status, refusal) => {
      for (const res of silent.splice(0))
        res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(refusal))
    },
    otherwise: () => ({ text: ['Hello from the model.'] }),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return provider
}

function play(res: ServerResponse, wire: Wire, script: Script, model: string): void {
  const { text = [], calls = [], ending, status, headers = {}, body } = script
  if (status !== undefined) {
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body ?? {}))
    return
  }
  res.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  const events = [
    ...wire.begin(model),
    ...text.flatMap((delta) => wire.text(delta)),
    ...calls.flatMap(({ name, args }, n) => wire.call(n, name, args)),
  ]
  res.write(events.join(''))
  if (ending === undefined) res.end(wire.end(calls.length > 0 ? 'calls' : (script.finish ?? 'stop')).join(''))
  else if (ending === 'hang up') setImmediate(() => res.destroy())
  else if (ending === 'garbage') res.end('data: {"not what": \n\ndata: ]]\n\n')
  else if (ending === 'endless') writeWithoutEnd(res, wire)
  else if (ending !== 'stall') res.end(wire.error(ending.error.code, ending.error.message).join(''))
}

function writeWithoutEnd(res: ServerResponse, wire: Wire): void {
  const more = () => {
    if (!res.destroyed) res.write(wire.text('On and on it goes. ').join(''), () => setImmediate(more))
  }
  more()
}

import type { Egress, EgressAnswer } from '#ports/egress/egress.ts'
import { EgressError } from '#ports/egress/egress-error.ts'
import type { AgentTool, ToolAnswer } from './agent-tool.ts'
import { argumentCheck } from './argument-check.ts'
import { maxToolTextBytes, toolText } from './tool-text.ts'

/** An HTTP tool with its opened secret. Its schema was checked at the registration. */
export interface HttpToolDecl {
  name: string
  description: string
  parameters: Record<string, unknown>
  url: string
  secret?: string | undefined
}

const timeoutMs = 15_000
const maxErrorBytes = 1_000

/** A call POSTs the arguments as JSON if they match the tool's schema. The answer is JSON or text. */
export function httpTool({ name, description, parameters, url, secret }: HttpToolDecl, send: Egress['send']): AgentTool {
  const wrongIn = argumentCheck(parameters)
  return {
    name,
    description,
    parameters,
    call: async (args, signal) => {
      const wrong = await wrongIn(args)
      signal.throwIfAborted()
      if (wrong) return { ok: false, error: `The arguments are wrong: ${wrong}. Nothing was sent.` }
      try {
        const headers = { accept: 'application/json, text/*', 'content-type': 'application/json', ...authorization(secret) }
        const body = JSON.stringify(args)
        const answer = await send({ method: 'POST', url, headers, body, timeoutMs, maxAnswerBytes: maxToolTextBytes, signal })
        return readAnswer(answer, secret)
      } catch (error) {
        signal.throwIfAborted()
        return { ok: false, error: explain(error) }
      }
    },
  }
}

function authorization(secret: string | undefined): Record<string, string> {
  return secret ? { authorization: `Bearer ${secret}` } : {}
}

function readAnswer({ status, headers, body, truncated }: EgressAnswer, secret: string | undefined): ToolAnswer {
  const type = headers['content-type'] ?? 'text/plain'
  const legible = /^text\/|[/+](json|xml|x-ndjson|x-www-form-urlencoded)\b/i.test(type)
  const text = legible ? body.toString('utf8') : ''
  if (status < 200 || status >= 300) {
    const said = toolText(text.trim(), { secret, maxBytes: maxErrorBytes })
    return { ok: false, error: `The tool answered with status ${status}${said ? `: ${said}` : '.'}` }
  }
  if (!legible) return { ok: false, error: 'The tool answered with something that is neither JSON nor text.' }
  const shown = toolText(/json/i.test(type) ? compact(text) : text, { secret })
  return { ok: true, text: truncated ? `${shown}\n[cut here: the answer goes on]` : shown }
}

/** The same JSON without white space, which would cost tokens. Numbers and repeated names stay as the tool wrote them. */
function compact(json: string): string {
  try {
    JSON.parse(json)
  } catch {
    return json
  }
  // A string is written in the usual form, in which the secret is found too: some servers write "/" as "\/".
  // The quote at its end is always there; as an optional one it keeps the search linear.
  return json.replaceAll(/"(?:[^"\\]|\\.)*"?|\s+/g, (part) => (part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : ''))
}

function explain(error: unknown): string {
  if (!(error instanceof EgressError)) return 'The tool could not be called.'
  if (error.reason === 'timeout') return `The tool did not answer within ${timeoutMs / 1_000} s.`
  if (error.reason === 'protocol') return 'The tool gave an answer that is not HTTP.'
  return 'The tool could not be reached.'
}

import type { Readable } from 'node:stream'
import { errors, type Agent, type Dispatcher } from 'undici'
import type { Deadline } from './deadline.ts'
import { EgressError } from './egress-error.ts'

interface OutgoingRequest {
  method: string
  url: URL
  headers: Iterable<[string, string]>
  body: string | Uint8Array | Readable | null
}

/** Headers that callers cannot set, because they concern framing, host and compression. */
const ownHeaders = new Set(
  `accept-encoding connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade`.split(
    ' ',
  ),
)

/** The number of informational (1xx) responses that are accepted. A server could send them without end. */
const maxInfos = 4

/** Sends a request and waits for the head of the answer. Redirects are not followed. */
export async function openAnswer(agent: Agent, request: OutgoingRequest, deadline: Deadline): Promise<Dispatcher.ResponseData> {
  const { url, method, body } = request
  // Checked first, because undici would connect before it checks.
  deadline.signal.throwIfAborted()
  let infos = 0
  const answer = agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: outgoingHeaders(request.headers),
    body,
    signal: deadline.signal,
    onInfo: () => {
      if (++infos > maxInfos) deadline.fail(new EgressError('protocol', 'The answer does not begin.'))
    },
  })
  try {
    // undici handles the signal only once the request has a connection, so the wait for a connection is raced
    // against the signal.
    return await deadline.race(answer)
  } catch (error) {
    throw asEgressError(error, deadline)
  }
}

/** Other errors are thrown unchanged: the caller's abort, or a bug. */
export function asEgressError(error: unknown, { signal }: Deadline): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof EgressError || !(error instanceof Error)) return error
  const lost = error instanceof errors.SocketError || error instanceof errors.ClientDestroyedError || 'syscall' in error
  if (lost) return new EgressError('lost', 'The connection was lost before the answer was complete.', { cause: error })
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError)
    return new EgressError('protocol', 'The request has a header or a method that cannot be sent.', { cause: error })
  if (error instanceof errors.UndiciError || error instanceof errors.HTTPParserError)
    return new EgressError('protocol', 'The answer is not valid HTTP.', { cause: error })
  return error
}

function outgoingHeaders(given: Iterable<[string, string]>): string[] {
  const headers = [...given].filter(([name]) => !ownHeaders.has(name.toLowerCase()))
  if (!headers.some(([name]) => name.toLowerCase() === 'user-agent')) headers.push(['user-agent', 'atrium'])
  return [...headers, ['accept-encoding', 'identity']].flat()
}

import type { AgentRequest, SessionEnded, SessionLaunched, SessionLaunchedSealed } from './agent-request.ts'
import { agentIdentity } from './agent-identity.ts'
import { AgentSession, type SessionState } from './agent-session.ts'
import type { AtriumClient } from './call.ts'
import { createClient } from './create-client.ts'
import { makeDeviceKey } from './device-key.ts'
import { NotFoundError } from './errors.ts'
import { openRoom, type Room } from './open-room.ts'
import { wait, type Wait } from './retry.ts'
import type { Entry } from './room-call.ts'
import { verifyWebhook, type WebhookHeaders, WebhookVerificationError } from './verify-webhook.ts'

export type { AgentRequest, AgentSession, SessionEnded, SessionLaunched, SessionLaunchedSealed, SessionState }

const types = new Set<string>(['session.launched', 'session.launched_sealed', 'session.ended'])

/**
 * Verifies a request to a remote agent's endpoint: its Standard Webhooks signature with the agent's signing_secret
 * (whsec_…), and that it is at most five minutes old. Answer with a 2xx first and join afterwards: a launch without an
 * answer within eight seconds is sent again, up to twice. Use session_id to detect such a repeat.
 *
 * @param body The raw body, unchanged.
 * @param secrets The signing secret, or several during a rotation.
 * @throws WebhookVerificationError; TypeError if a secret is malformed.
 * @example
 * const request = await verifyAgentRequest(body, req.headers, process.env.SIGNING_SECRET)
 * res.writeHead(204).end()
 * if (request.type === 'session.launched') await work(await joinSession(request))
 */
export async function verifyAgentRequest(
  body: string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  toleranceSeconds?: number,
): Promise<AgentRequest> {
  const request = await verifyWebhook<AgentRequest>(body, headers, secrets, toleranceSeconds)
  if (!types.has(request.type)) throw new WebhookVerificationError('unknown_type')
  return request
}

export interface JoinOptions {
  /** Milliseconds between two requests for the status, because a session.ended request may be lost. Default 3,000. */
  lookEveryMs?: number
  /** A replacement for the global fetch. */
  fetch?: typeof globalThis.fetch
  /** Waits; for tests. */
  wait?: Wait
}

/** An agent can wait: it retries for about half a minute while the Space service is unavailable. */
const retries = 10

/**
 * The join has to be confirmed within 30 seconds, and no message is read while the token is renewed. A request whose answer
 * never comes has to leave time to ask again.
 */
const controlTimeoutMs = 5_000

/** How many lines are read back at most to find the place of the launch. */
const lookBackLines = 500

/**
 * Joins the session of a launch request: makes a device key, gets an ID token for it, enters the room and confirms the
 * join. From then on the price is due, in credits. Without a confirmation within 30 seconds the session fails.
 *
 * Throws AtriumError: StateConflictError if the session has ended meanwhile, NotAuthorizedError if the room does not
 * admit the agent. Throws TypeError if control_url is not the URL of the session.
 *
 * @example
 * const session = await joinSession(launch)
 * for await (const entry of session.entries) await session.reply(entry, `You said: ${entry.message.text}`)
 */
export async function joinSession(launch: SessionLaunched, options: JoinOptions = {}): Promise<AgentSession> {
  const { lookEveryMs = 3_000, ...net } = options
  const { session_id: id, space_url: spaceUrl, room: name, mk } = launch
  const control = openControl(launch, net)
  const identity = agentIdentity(control, id, await makeDeviceKey())
  const room = openRoom({ spaceUrl, room: name, mk, identity: identity.get, retries, ...net })
  const recent = await readRecent(room)
  const { data } = await control.markSessionJoined({ id, repeatable: true })
  const launchedAtMs = Date.parse(data.created_at)
  const before = recent.places.findLast(({ at }) => Date.parse(at) < launchedAtMs)?.seq
  const after = before ?? recent.count - lookBackLines - 1
  return new AgentSession({
    launch,
    room,
    control,
    identity,
    after: Math.max(-1, after),
    lookEveryMs,
    wait: net.wait ?? wait,
  })
}

/** The session as its agent controls it. Throws TypeError if control_url is not the URL of the session. */
export function openControl(
  launch: Pick<SessionLaunched, 'control_url' | 'session_id' | 'control_token'>,
  net: Pick<JoinOptions, 'fetch' | 'wait'>,
): AtriumClient {
  const { control_url: url, session_id: id, control_token: controlToken } = launch
  const end = `/sessions/${id}`
  if (!url.endsWith(end)) throw new TypeError('control_url is not the URL of the session')
  return createClient({ baseUrl: url.slice(0, -end.length), controlToken, retries, timeoutMs: controlTimeoutMs, ...net })
}

interface Recent {
  /** How many lines the room has. */
  count: number
  /** Of the last messages, oldest first. */
  places: Pick<Entry, 'seq' | 'at'>[]
}

/** Reads the last lines of the room. A room without a message does not exist yet. */
async function readRecent(room: Room): Promise<Recent> {
  try {
    const { count } = await room.poll({ sinceCount: Number.MAX_SAFE_INTEGER })
    const places: Recent['places'] = []
    for (let since = Math.max(0, count - lookBackLines); ;) {
      const page = await room.poll({ sinceCount: since, limit: lookBackLines })
      places.push(...page.entries.map(({ seq, at }) => ({ seq, at })))
      // A page of large lines is cut and has only the oldest of them. A page without news: the room was replaced meanwhile.
      if (page.count >= count || page.count <= since) return { count, places }
      since = page.count
    }
  } catch (error) {
    if (error instanceof NotFoundError) return { count: 0, places: [] }
    throw error
  }
}

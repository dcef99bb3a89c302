import type { AgentRequest, SessionLaunched } from './agent-request.ts'
import { agentIdentity } from './agent-identity.ts'
import { AgentSession } from './agent-session.ts'
import { createClient } from './create-client.ts'
import { makeDeviceKey } from './device-key.ts'
import { NotFoundError } from './errors.ts'
import { openRoom, type Room } from './open-room.ts'
import { wait, type Wait } from './retry.ts'
import type { RoomPage } from './room-call.ts'
import { verifyWebhook, type WebhookHeaders, WebhookVerificationError } from './verify-webhook.ts'

/**
 * Whether a request to a remote agent's endpoint is genuine: signed with the signing_secret (whsec_…) that registering the agent returned, as
 * Standard Webhooks has it, in the last five minutes. Answer with a 2xx soon and join afterwards: a launch that is not answered in eight
 * seconds is sent again, up to twice, and one session may so be launched here more than once: its session_id tells.
 *
 * @param body Exactly as it came.
 * @param secrets Several while a secret is being changed.
 * @throws WebhookVerificationError; TypeError where a secret is not one.
 */
export async function verifyAgentRequest(
  body: string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  toleranceSeconds?: number,
): Promise<AgentRequest> {
  const request = await verifyWebhook<AgentRequest>(body, headers, secrets, toleranceSeconds)
  if (request.type !== 'session.launched' && request.type !== 'session.ended') throw new WebhookVerificationError('unknown_type')
  return request
}

export interface JoinOptions {
  /** How often the status is asked for, since a session.ended request may be lost. Default 3,000. */
  lookEveryMs?: number
  /** Another fetch than the platform's. */
  fetch?: typeof globalThis.fetch
  /** How to wait; for tests. */
  wait?: Wait
}

/** An agent is in no hurry: while the Space service is away it keeps trying for about half a minute. */
const retries = 10

/** What is looked back for, at the most, to find where the launch was. */
const lookBackLines = 500

/**
 * Joins the session of a launch request: makes a device key, gets a token for it, enters the room and confirms that the agent came; from then
 * on its price is due. Without a confirmation within 30 seconds the session fails.
 *
 * Throws AtriumError: StateConflictError when the session has ended meanwhile, NotAuthorizedError when the room does not let the agent in.
 * Throws TypeError where the request's control_url is not that of its session.
 */
export async function joinSession(launch: SessionLaunched, options: JoinOptions = {}): Promise<AgentSession> {
  const { lookEveryMs = 3_000, ...net } = options
  const { session_id: id, control_token: controlToken, space_url: spaceUrl, room: name, mk } = launch
  const control = createClient({ baseUrl: baseOf(launch), controlToken, retries, ...net })
  const identity = agentIdentity(control, id, await makeDeviceKey())
  const room = openRoom({ spaceUrl, room: name, mk, identity: identity.get, retries, ...net })
  const recent = await readRecent(room)
  const { data } = await control.markSessionJoined({ id, repeatable: true })
  const launchedAtMs = Date.parse(data.created_at)
  const before = recent.entries.findLast(({ at }) => Date.parse(at) < launchedAtMs)?.seq
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

function baseOf({ control_url: url, session_id: id }: SessionLaunched): string {
  const end = `/sessions/${id}`
  if (!url.endsWith(end)) throw new TypeError('control_url is not the address of the session')
  return url.slice(0, -end.length)
}

/** The end of the room. One that nobody has spoken in is not there yet. */
async function readRecent(room: Room): Promise<RoomPage> {
  try {
    const { count } = await room.poll({ sinceCount: Number.MAX_SAFE_INTEGER })
    return await room.poll({ sinceCount: Math.max(0, count - lookBackLines), limit: lookBackLines })
  } catch (error) {
    if (error instanceof NotFoundError) return { etag: '', count: 0, entries: [], policy: 'open' }
    throw error
  }
}

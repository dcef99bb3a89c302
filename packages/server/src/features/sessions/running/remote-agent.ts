import { setTimeout as delay } from 'node:timers/promises'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { Webhook } from 'standardwebhooks'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { isPassing } from '#db/is-passing.ts'
import { openSigningSecret } from '#features/agents/agent-secrets.ts'
import { findAgent } from '#features/agents/store.ts'
import type { Context } from '#features/context.ts'
import { EgressError, unsentReasons } from '#ports/egress/egress-error.ts'
import { commitEnd } from '../session-transitions.ts'
import { openRoomKey, type Session, type SessionError } from '../session.ts'
import { claimEndNotices, forgetAgentToken, updateAgentToken } from './lease-store.ts'
import { openWithKeys, RoomKeyError, roomKeyUnopened, masterKeyMayCome } from './open-with-keys.ts'
import type { Run } from './run-model-session.ts'
import { isPassingForHolder, LeaseLostError } from './session-lease.ts'

/** The attempts end within the 30 seconds in which a remote agent has to join. */
const launchRetryAfterMs = [2_000, 6_000]

/**
 * Sends a remote agent everything that it needs to join. From then on the agent runs without us, and reports with its
 * control token that it joined. If this process stops before a request may have arrived, another worker launches it.
 */
export async function launchRemote(ctx: Context, run: Run): Promise<void> {
  const { session, signal } = run
  let key: string
  try {
    key = await openWithKeys(run, async () => openRoomKey(ctx.vault, session))
  } catch (error) {
    if (!(error instanceof RoomKeyError)) throw error
    // The master key or the row is wrong, which the operator has to repair.
    ctx.log.error({ err: error, session: session.id }, 'a session failed')
    return endUnlaunched(ctx, run, roomKeyUnopened)
  }
  const launch = new RemoteLaunch(ctx, run, key)
  try {
    for (let attempt = 0; !signal.aborted; attempt++) {
      const error = await launch.send()
      if (!error) return
      const waitMs = launchRetryAfterMs[attempt]
      // The agent may have joined although its answers were late or wrong: then it stays, and is paid.
      if (waitMs === undefined) return await endUnlaunched(ctx, run, error)
      await delay(waitMs, undefined, { signal }).catch(() => undefined)
    }
  } finally {
    // If this fails, the agent is not launched, and the sweeper ends the session.
    if (signal.aborted) await launch.letOthersLaunch().catch(() => undefined)
  }
}

async function endUnlaunched(ctx: Context, { session, lease, signal }: Run, error: SessionError): Promise<void> {
  const only = { status: 'launching', leaseOwner: lease.owner } as const
  await keepTrying(() => commitEnd(ctx, session, { status: 'failed', error }, only), { signal, isPassing })
}

/** The launch of a remote agent by this worker: each attempt sends the same request. */
class RemoteLaunch {
  readonly #ctx: Context
  readonly #run: Run
  readonly #body: object
  readonly #tokenHash: Buffer
  #isTokenStored = false
  #mayHaveArrived = false

  constructor(ctx: Context, run: Run, key: string) {
    this.#ctx = ctx
    this.#run = run
    const { session } = run
    const controlToken = newCredential('controlToken')
    this.#tokenHash = hashCredential(controlToken)
    const { publicUrl } = ctx.config
    // Another type: an agent that does not know it must not take the ciphertext for a key.
    const kind = session.isClientSealed
      ? { type: 'session.launched_sealed', sealed_key: key, space_origin: new URL(ctx.config.spacesUrl).origin }
      : { type: 'session.launched', mk: key }
    this.#body = {
      ...kind,
      session_id: session.id,
      agent_id: session.agentId,
      room: session.room,
      space_url: `${publicUrl}/v1/space`,
      control_token: controlToken,
      control_url: `${publicUrl}/sessions/${session.id}`,
      max_minutes: session.maxMinutes,
      expires_at: session.expiresAt,
      metadata: session.metadata ?? {},
    }
  }

  /** undefined: the endpoint took the request. */
  async send(): Promise<SessionError | undefined> {
    const { signal } = this.#run
    const mayCome = masterKeyMayCome()
    const mayPass = (error: unknown) => isPassingForHolder(error) || mayCome(error)
    try {
      // The signing secret is in the database: an outage of the database is not counted against the agent.
      const status = await keepTrying(() => this.#call(), { signal, isPassing: mayPass })
      if (status >= 200 && status < 300) return undefined
      return { code: 'agent_unreachable', message: `The agent's endpoint answered ${status}.` }
    } catch (error) {
      if (!(error instanceof EgressError)) throw error
      return { code: 'agent_unreachable', message: `The agent's endpoint could not be called: ${error.message}` }
    }
  }

  async #call(): Promise<number> {
    const { session, lease, signal } = this.#run
    const arrivedBefore = this.#mayHaveArrived
    const assertMay = async () => {
      if (!this.#isTokenStored) await this.#storeToken()
      await lease.confirm()
      lease.assertFresh()
      this.#mayHaveArrived = true
    }
    try {
      return await callEndpoint(this.#ctx, session, `${session.id}.launched`, this.#body, { signal, assertMay })
    } catch (error) {
      if (error instanceof EgressError && unsentReasons.has(error.reason)) this.#mayHaveArrived = arrivedBefore
      throw error
    }
  }

  /** Right before the first request, because no other worker claims the session from then on. */
  async #storeToken(): Promise<void> {
    const { session, lease } = this.#run
    this.#isTokenStored = await updateAgentToken(this.#ctx.db, session, lease.owner, this.#tokenHash)
    if (!this.#isTokenStored) throw new LeaseLostError()
  }

  async letOthersLaunch(): Promise<void> {
    const { session, lease } = this.#run
    if (!this.#mayHaveArrived) await forgetAgentToken(this.#ctx.db, session, lease.owner, this.#tokenHash)
  }
}

const noticeRetryAfterMs = [2_000, 10_000, 30_000]

/**
 * Notifies remote agents that their session has ended: best effort. Their control tokens and ID tokens are no longer
 * accepted by then. The key of a room without an access list still is, so an agent that misses the notice may write
 * there until it asks for its status.
 */
export async function notifyEnded(ctx: Context): Promise<void> {
  for (const session of await claimEndNotices(ctx.db)) void sendEnded(ctx, session)
}

/** Never rejects. */
async function sendEnded(ctx: Context, session: Session): Promise<void> {
  const body = {
    type: 'session.ended',
    session_id: session.id,
    agent_id: session.agentId,
    room: session.room,
    status: session.status,
  }
  for (let attempt = 0; ; attempt++) {
    try {
      const status = await callEndpoint(ctx, session, `${session.id}.ended`, body)
      if (status < 500 && status !== 429) return
    } catch (error) {
      ctx.log.debug({ err: error, session: session.id }, 'cannot notify a remote agent that its session has ended')
    }
    const waitMs = noticeRetryAfterMs[attempt]
    if (waitMs === undefined) return
    await delay(waitMs, undefined, { ref: false })
  }
}

/**
 * Sends a request to a remote agent's endpoint, signed as Standard Webhooks specifies with the secret that its owner
 * received at the registration. Returns the status of the answer. Calls `assertMay` right before it sends, because a
 * session may have been stopped since. @throws EgressError
 */
async function callEndpoint(
  ctx: Context,
  session: Session,
  messageId: string,
  body: object,
  { signal, assertMay }: { signal?: AbortSignal; assertMay?: () => Promise<void> } = {},
): Promise<number> {
  const agent = await findAgent(ctx.db, session.agentTenantId, session.agentId)
  if (!agent || session.agent.endpoint === null) throw new Error(`session ${session.id} has no endpoint to call`)
  const text = JSON.stringify(body)
  const signer = new Webhook(openSigningSecret(ctx.vault, agent))
  await assertMay?.()
  const now = new Date()
  const answer = await ctx.egress.send({
    method: 'POST',
    url: session.agent.endpoint,
    headers: {
      'content-type': 'application/json',
      'webhook-id': messageId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': signer.sign(messageId, now, text),
    },
    body: text,
    timeoutMs: 8_000,
    ...(signal ? { signal } : {}),
  })
  return answer.status
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '#features/context.ts'
import { statement } from '#db/database.ts'
import { isPassing } from '#db/is-passing.ts'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { EgressError } from '#ports/egress/egress-error.ts'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { endSession } from '../end-session.ts'
import { openRoomKey } from '../session-secrets.ts'
import type { SessionError } from '../session.ts'
import { callEndpoint } from './call-endpoint.ts'
import type { Run } from './run-model-session.ts'
import { isPassingForHolder } from './session-hold.ts'

/** Within the 30 seconds that a remote agent has to come. */
const retryAfterMs = [2_000, 6_000]

const handStatement = statement<{ id: string }>(
  'sessions-hand-over',
  `update sessions set agent_control_hash = $4
   where tenant_id = $1 and id = $2 and lease_owner = $3 and status = 'launching'
   returning id`,
)

/** Tells a remote agent to come, with all that it needs for that. It runs by itself from then on, and says by its control token that it came. */
export async function launchRemote(ctx: Context, run: Run): Promise<void> {
  const { session, hold, signal } = run
  const controlToken = newCredential('controlToken')
  const { tenantId, id, agentId } = session
  const values = [tenantId, id, hold.owner, hashCredential(controlToken)]
  const handed = await keepTrying(() => ctx.db.query(handStatement, values), { signal, isPassing })
  if (handed.length === 0) return
  const { publicUrl } = ctx.config
  const body = {
    type: 'session.launched',
    session_id: id,
    agent_id: agentId,
    room: session.room,
    mk: openRoomKey(ctx.vault, session),
    space_url: `${publicUrl}/v1/space`,
    control_token: controlToken,
    control_url: `${publicUrl}/sessions/${id}`,
    max_minutes: session.maxMinutes,
    expires_at: session.expiresAt,
    metadata: session.metadata ?? {},
  }
  for (let tried = 0; !signal.aborted; tried++) {
    const error = await tryOnce(ctx, run, body)
    if (!error) return
    const waitMs = retryAfterMs[tried]
    if (waitMs === undefined) {
      // It may have come although its answers were late or wrong: then it stays, and is paid.
      const only = { status: 'launching', leaseOwner: hold.owner } as const
      await keepTrying(() => endSession(ctx, session, { status: 'failed', error }, only), { signal, isPassing })
      return
    }
    await delay(waitMs, undefined, { signal }).catch(() => undefined)
  }
}

/** undefined: it was told. */
async function tryOnce(ctx: Context, { session, hold, signal }: Run, body: object): Promise<SessionError | undefined> {
  const call = async () => {
    await hold.confirm()
    return callEndpoint(ctx, session, `${session.id}.launched`, body, { signal, assertMay: hold.assertFresh })
  }
  try {
    // Without the database nobody knows how the request is signed: that is no fault of the agent's.
    const status = await keepTrying(call, { signal, isPassing: isPassingForHolder })
    if (status >= 200 && status < 300) return undefined
    return { code: 'agent_unreachable', message: `The agent's endpoint answered ${status}.` }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    return { code: 'agent_unreachable', message: `The agent's endpoint could not be called: ${error.message}` }
  }
}

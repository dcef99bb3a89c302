import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '#features/context.ts'
import { statement } from '#db/database.ts'
import type { Session } from '../session.ts'
import { sessionColumns, toSession, type SessionRow } from '../store.ts'
import { callEndpoint } from './call-endpoint.ts'

const takeStatement = statement<SessionRow>(
  'sessions-take-notices',
  `update sessions set notice_due = false
   where (tenant_id, id) in (select tenant_id, id from sessions where notice_due limit 20 for update skip locked)
   returning ${sessionColumns}`,
)

/** How long is waited before each further try. */
const retryAfterMs = [2_000, 10_000, 30_000]

/**
 * Tells remote agents that their session is over: best effort. Their control tokens and ID tokens open nothing by then; the key of a room
 * without a list is still good, so an agent that is not told may write there until it asks for its status.
 */
export async function tellEnded(ctx: Context): Promise<void> {
  for (const row of await ctx.db.query(takeStatement, [])) void tellOne(ctx, toSession(row))
}

/** Never rejects. */
async function tellOne(ctx: Context, session: Session): Promise<void> {
  const body = {
    type: 'session.ended',
    session_id: session.id,
    agent_id: session.agentId,
    room: session.room,
    status: session.status,
  }
  for (let tried = 0; ; tried++) {
    try {
      const status = await callEndpoint(ctx, session, `${session.id}.ended`, body)
      if (status < 500 && status !== 429) return
    } catch (error) {
      ctx.log.debug({ err: error, session: session.id }, 'a remote agent was not told that its session is over')
    }
    const waitMs = retryAfterMs[tried]
    if (waitMs === undefined) return
    await delay(waitMs, undefined, { ref: false })
  }
}

import type { Context } from '../../../context.ts'
import { statement } from '../../../db/database.ts'
import type { Session } from '../session.ts'
import { sessionColumns, toSession, type SessionRow } from '../store.ts'
import { callEndpoint } from './call-endpoint.ts'

const takeStatement = statement<SessionRow>(
  'sessions-take-notices',
  `update sessions set notice_due = false
   where (tenant_id, id) in (select tenant_id, id from sessions where notice_due limit 20 for update skip locked)
   returning ${sessionColumns}`,
)

/** Tells remote agents that their session is over: once, and best effort, since what they were trusted with is worthless from now on. */
export async function tellEnded(ctx: Context): Promise<void> {
  for (const row of await ctx.db.query(takeStatement, [])) {
    const session = toSession(row)
    tellOne(ctx, session).catch(() => undefined)
  }
}

async function tellOne(ctx: Context, session: Session): Promise<void> {
  const body = {
    type: 'session.ended',
    session_id: session.id,
    agent_id: session.agentId,
    room: session.room,
    status: session.status,
  }
  await callEndpoint(ctx, session, `${session.id}.ended`, body)
}

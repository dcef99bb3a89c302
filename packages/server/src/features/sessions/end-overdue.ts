import type { Context } from '../context.ts'
import { endSession } from './end-session.ts'
import type { Ending, Session } from './session.ts'
import { listOverdue, noteContact } from './store.ts'

/**
 * Ends sessions whose time is up, whatever became of their worker, and those whose remote agent did not come. Says how many it looked at,
 * and which of them could not be ended now: one that makes trouble does not keep the others from their end.
 */
export async function endOverdue(ctx: Context, limit: number): Promise<{ looked: number; failed: string[] }> {
  await noteContact(ctx.db)
  const overdue = await listOverdue(ctx.db, limit)
  const failed: string[] = []
  for (const session of overdue) {
    const ending = endingOf(session)
    try {
      // One that came in this very moment stays.
      await endSession(ctx, session, ending, ending.status === 'failed' ? { status: 'launching' } : {})
    } catch (error) {
      ctx.log.error({ err: error, session: session.id }, 'not ended, though its time is up')
      failed.push(session.id)
    }
  }
  return { looked: overdue.length, failed }
}

function endingOf(session: Session): Ending {
  if (Date.parse(session.expiresAt) <= Date.now()) return { status: 'expired' }
  return {
    status: 'failed',
    error: { code: 'agent_never_came', message: 'The agent did not say within 30 seconds that it came.' },
  }
}

import type { Context } from '../context.ts'
import { endSession } from './end-session.ts'
import { listLivingOfAgent } from './store.ts'

/** So many at once, each in a transaction of its own: it takes no more connections, and holds none of them for long. */
const batch = 10

/** Stops all sessions of an agent, whoever launched them: what is due for a stop is charged as for any other. */
export async function stopSessionsOfAgent(ctx: Context, agentTenantId: string, agentId: string): Promise<void> {
  for (;;) {
    const living = await listLivingOfAgent(ctx.db, agentTenantId, agentId, batch)
    await Promise.all(living.map((session) => endSession(ctx, session, { status: 'stopped' })))
    if (living.length < batch) return
  }
}

import type { Context } from './context.ts'
import { deleteExpired } from './http/idempotency/store.ts'

const everyMs = 60_000
const batchSize = 1_000

/** Deletes answers whose day is over. Every process may do it: rows that another one deletes are skipped. */
export function startSweeper(ctx: Context): () => void {
  const state = { stopped: false }
  const sweep = async () => {
    try {
      while (!state.stopped && (await deleteExpired(ctx.db, batchSize)) === batchSize);
    } catch (error) {
      ctx.log.error({ err: error }, 'expired idempotency keys not deleted')
    }
  }
  const timer = setInterval(() => void sweep(), everyMs).unref()
  return () => {
    state.stopped = true
    clearInterval(timer)
  }
}

import type { Db } from '../rooms/store.ts'
import { measureTotal, sweep } from './store.ts'

interface SweepingOptions {
  db: Db
  /** 0: unused rooms are kept. */
  unusedDays: number
  onError: (error: Error) => void
}

const batch = 500
const intervalMs = 10 * 60_000
const measureEvery = 6

/**
 * Removes rooms that were never used, in small batches, in one process at a time. Returns a function that stops it.
 */
export function startSweeping({ db, unusedDays, onError }: SweepingOptions): () => void {
  let rounds = 0
  let stopped = false
  const run = async () => {
    for (let left: number | undefined = batch; left === batch && !stopped;) left = await sweep(db, { unusedDays, batch })
    if (++rounds % measureEvery === 0 && !stopped) await measureTotal(db)
  }
  const timer = setInterval(() => void run().catch(onError), intervalMs).unref()
  return () => {
    stopped = true
    clearInterval(timer)
  }
}

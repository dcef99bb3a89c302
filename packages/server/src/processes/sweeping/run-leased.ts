import type { Db } from '#db/database.ts'
import { claimSweep, releaseSweep, renewSweep } from './store.ts'

/** A process that was killed in the middle of a sweep holds it up for no longer than this. */
const leaseMs = 15_000

interface LeasedSweep {
  db: Db
  name: string
  holder: string
  everyMs: number
  /** Does it; looks at `isOurs` between its steps. */
  run: (isOurs: () => boolean) => Promise<void>
  /** Told when it was last done to the end, by whatever process. */
  onRanAt: (at: string) => void
}

/**
 * Runs a sweep if it is due and no other process is doing it. The lease only saves work: each sweep is safe to be done
 * by two at once, which happens where a process stood still for longer than its lease.
 */
export async function runLeased({ db, name, holder, everyMs, run, onRanAt }: LeasedSweep): Promise<void> {
  const { claimed, ranAt } = await claimSweep(db, { name, holder, leaseMs, everyMs })
  if (ranAt !== undefined) onRanAt(ranAt)
  if (!claimed) return
  let isOurs = true
  const renewal = setInterval(() => {
    renewSweep(db, { name, holder, leaseMs }).then(
      (held) => (isOurs = held),
      // Tried again before it runs out.
      () => undefined,
    )
  }, leaseMs / 3).unref()
  let done = false
  try {
    await run(() => isOurs)
    done = isOurs
  } finally {
    clearInterval(renewal)
    const at = await releaseSweep(db, name, holder, done)
    if (at !== undefined) onRanAt(at)
  }
}

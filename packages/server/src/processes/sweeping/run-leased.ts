import type { Db } from '#db/database.ts'
import { claimSweep, releaseSweep, renewSweep } from '#features/installation/sweep-store.ts'

/** A process that was killed during a sweep delays that sweep by no more than this. */
const leaseMs = 15_000

interface LeasedSweep {
  db: Db
  name: string
  holder: string
  intervalMs: number
  /** Runs the sweep. It calls `isOurs` between its steps. */
  run: (isOurs: () => boolean) => Promise<void>
  /** Called with the time of the last complete run, by any process. undefined: there was none. */
  onRanAt: (at: string | undefined) => void
}

/**
 * Runs a sweep if it is due and no other process runs it. The lease only saves work: two processes may safely run a
 * sweep at once, which happens if one was suspended for longer than its lease.
 */
export async function runLeased({ db, name, holder, intervalMs, run, onRanAt }: LeasedSweep): Promise<void> {
  const { claimed, ranAt } = await claimSweep(db, { name, holder, leaseMs, intervalMs })
  onRanAt(ranAt)
  if (!claimed) return
  let isOurs = true
  const renewal = setInterval(() => {
    renewSweep(db, { name, holder, leaseMs }).then(
      (held) => (isOurs = held),
      // Retried before the lease expires.
      () => undefined,
    )
  }, leaseMs / 3).unref()
  let done = false
  try {
    await run(() => isOurs)
    done = isOurs
  } finally {
    clearInterval(renewal)
    onRanAt(await releaseSweep(db, name, holder, done))
  }
}

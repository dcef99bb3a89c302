import { messageOf } from '#errors/caught.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { Backoff, type BackoffOptions } from '@atrium/traffic/backoff'
import { StartError } from '#errors/start-error.ts'
import type { Postmaster } from './postmaster.ts'

/** After so many failures in a row without a healthy time between them, there is no further restart. */
const maxFailures = 5
const usualWaits: BackoffOptions = { firstMs: 200, maxMs: 5_000, healthyMs: 10_000 }

export interface KeptPostmaster {
  /** Why it could not be kept running. Never resolves as long as it can. */
  failed: Promise<StartError>
  stop(): Promise<void>
}

interface KeepOptions {
  /** The signal says that the process is no longer wanted: it is then stopped also if it does not run yet. */
  start: (stopping: AbortSignal) => Promise<Postmaster>
  say: (line: string) => void
  /**
   * Whether the failure is temporary, such as a full disk: it does not count, and restarts continue for as long as it
   * lasts.
   */
  willPass?: () => boolean
  waits?: BackoffOptions
}

/** Starts PostgreSQL, and restarts it whenever it ends by itself. A failure of the first start is thrown. */
export async function keepPostmaster({
  start,
  say,
  willPass = () => false,
  waits = usualWaits,
}: KeepOptions): Promise<KeptPostmaster> {
  const failed = Promise.withResolvers<StartError>()
  const stopping = new AbortController()
  const backoff = new Backoff(waits)
  let failures = 0
  let current = await start(stopping.signal)
  backoff.succeeded()

  /** Resolves to true once PostgreSQL runs again. */
  const revive = async (reason: string): Promise<boolean> => {
    for (;;) {
      const waitMs = backoff.failed()
      // The backoff resets after a healthy time. Temporary failures are not counted.
      failures = backoff.failures === 1 ? 0 : failures
      if (!willPass()) failures++
      if (failures > maxFailures) {
        failed.resolve(new StartError(`PostgreSQL ended ${failures} times in a row: ${reason}`))
        return false
      }
      say(`PostgreSQL ended: ${reason}; starting it again in ${(waitMs / 1_000).toFixed(1)} s`)
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return false
      try {
        current = await start(stopping.signal)
        backoff.succeeded()
        if (stopping.signal.aborted) return false
        say('PostgreSQL runs again')
        return true
      } catch (error) {
        if (stopping.signal.aborted) return false
        reason = messageOf(error)
      }
    }
  }

  const keep = async () => {
    for (;;) {
      const reason = await current.ended
      if (stopping.signal.aborted || !(await revive(reason))) return
    }
  }
  const kept = keep()

  return {
    failed: failed.promise,
    stop: async () => {
      stopping.abort()
      await current.stop()
      // A restart that is under way may have made another process.
      await kept
      await current.stop()
    },
  }
}

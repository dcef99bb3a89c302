import { setTimeout as delay } from 'node:timers/promises'
import { Backoff, type BackoffOptions } from '@atrium/traffic/backoff'
import { StartError } from '#errors/start-error.ts'
import type { Postmaster } from './postmaster.ts'

/** After so many ends in a row, none of them preceded by a healthy time, it is not tried again. */
const maxFailures = 5
const usualWaits: BackoffOptions = { firstMs: 200, maxMs: 5_000, healthyMs: 10_000 }

export interface KeptPostmaster {
  /** Why it could not be kept running. Never resolves as long as it can. */
  failed: Promise<StartError>
  stop(): Promise<void>
}

interface KeepOptions {
  start: () => Promise<Postmaster>
  say: (line: string) => void
  /** Whether the failure passes without anyone starting anew, such as a full disk: it does not count, and is tried for as long as it lasts. */
  willPass?: () => boolean
  waits?: BackoffOptions
}

/** Starts PostgreSQL and, whenever it ends by itself, starts it again. The first start fails as it does. */
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
  let current = await start()
  backoff.succeeded()

  /** True: it runs again. */
  const revive = async (reason: string): Promise<boolean> => {
    for (;;) {
      const waitMs = backoff.failed()
      // The backoff knows when there was a healthy time; what passes by itself is waited for and not counted.
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
        current = await start()
        backoff.succeeded()
        say('PostgreSQL runs again')
        return true
      } catch (error) {
        reason = (error as Error).message
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
      // One that is just being started again is stopped once it runs.
      await current.stop()
      await Promise.race([kept, current.ended])
      await current.stop()
    },
  }
}

/**
 * Shows other tabs that this one is working on something, until the page ends or the function that it resolves to is called.
 * That function resolves when the lock is free. Without locks, `ifUnlocked` does nothing.
 */
export async function holdLock(name: string): Promise<() => Promise<void>> {
  const [begun, work] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const held = navigator.locks.request(name, () => {
    begun.resolve()
    return work.promise
  })
  const over = held.catch(() => undefined)
  await Promise.race([begun.promise, over])
  return () => {
    work.resolve()
    return over
  }
}

/** Does the work unless a tab, also this one, holds the lock. A failure of the work is ignored: the next visit tries again. */
export async function ifUnlocked(name: string, work: () => Promise<void>): Promise<void> {
  await navigator.locks
    .request(name, { ifAvailable: true }, async (lock) => {
      if (lock) await work()
    })
    .catch(() => undefined)
}

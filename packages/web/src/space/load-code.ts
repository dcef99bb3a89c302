import { wait } from '@atrium/room-client/retry'
import { noticeStore } from './notice-store.ts'

const AGAIN_MS = 1_000
const TIMEOUT_MS = 10_000

/**
 * Loads a part of the app, until it is there or nobody waits for it any more. Firefox never asks again for a file that it
 * could not fetch, and a service that was updated does not have the files of this page: then a reload helps, and nothing
 * else. While the service is away, a reload would lose the page.
 */
export async function loadCode<T>(load: () => Promise<T>, isOver: () => boolean = () => false): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      const code = await load()
      report(load, false)
      return code
    } catch (error) {
      const isMissing = failures > 1 && (await isServiceThere())
      report(load, isMissing && !isOver())
      if (isOver()) throw error
      await wait(AGAIN_MS, undefined)
    }
  }
}

const missing = new Set<unknown>()

function report(load: unknown, isMissing: boolean): void {
  if (isMissing) missing.add(load)
  else missing.delete(load)
  noticeStore.update({ isMissing: missing.size > 0 })
}

async function isServiceThere(): Promise<boolean> {
  try {
    return (await fetch('/space-config', { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })).ok
  } catch {
    return false
  }
}

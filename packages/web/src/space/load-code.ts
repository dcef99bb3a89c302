import { wait } from '@atrium/room-client/retry'
import { noticeStore } from './notice-store.ts'

const LONGEST_MS = 8_000
const TIMEOUT_MS = 10_000

/**
 * Loads a part of the app, until it is there or nobody waits for it any more. Firefox never asks again for a file that it
 * could not fetch, and a service that was updated does not have the files of this page: then a reload helps, and nothing
 * else. While the service is away, a reload would lose the page.
 */
export async function loadCode<T>(load: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    for (let delayMs = 1_000; ; delayMs = Math.min(2 * delayMs, LONGEST_MS)) {
      try {
        return await load()
      } catch {
        if (delayMs > 1_000) report(load, await isServiceThere())
        await wait(delayMs, signal)
      }
    }
  } finally {
    report(load, false)
  }
}

const missing = new Set<unknown>()

function report(load: unknown, isMissing: boolean): void {
  if (isMissing) missing.add(load)
  else missing.delete(load)
  noticeStore.update({ isMissing: missing.size > 0 })
}

let asking: Promise<boolean> | undefined

/** Asked once for all parts that are loaded at the same time. */
function isServiceThere(): Promise<boolean> {
  asking ??= fetch('/space-config', { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
    .then(
      ({ ok }) => ok,
      () => false,
    )
    .finally(() => (asking = undefined))
  return asking
}

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** After so many bytes of answers, a garbage collection of some 30 ms is worthwhile. */
const everyBytes = 32 * 1024 * 1024

/**
 * Starts a garbage collection after answers of so many bytes. By default V8 first lets the heap grow to its initial
 * limit, which is far more than the pages of a list need: 120 large pages at once took 400 MiB, and half of that with
 * this class.
 */
export class CollectLarge {
  #collect: (() => void) | undefined
  #made = 0

  note(bytes: number): void {
    this.#made += bytes
    if (this.#made < everyBytes) return
    this.#made = 0
    this.#collect ??= findCollector()
    // After this turn of the event loop, when the answer is no longer referenced.
    setImmediate(this.#collect)
  }
}

/** gc() exists only in a context that is created after it is exposed, so no other code can call it. */
function findCollector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  return () => collect()
}

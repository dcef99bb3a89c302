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
    const collect = (this.#collect ??= findCollector())
    // After this turn of the event loop, when the answer is no longer referenced.
    setImmediate(() => collect())
  }
}

/**
 * Frees what only the start of a process needed: 20 to 60 MiB, among them the buffers of the compile cache. V8 would
 * keep them until the heap has grown. Takes about 0.1 s, so it runs before the process takes its first work.
 */
export function freeStartMemory(): void {
  findCollector()({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

interface CollectOptions {
  type: 'major'
  execution: 'sync'
  /** Also drops compiled code that was not used for a while, and gives empty pages back to the system. */
  flavor: 'last-resort'
}

/** gc() exists only in a context that is created after it is exposed, so no other code can call it. */
function findCollector(): (options?: CollectOptions) => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: CollectOptions) => void
  setFlagsFromString('--no-expose-gc')
  return (options) => (options ? collect(options) : collect())
}

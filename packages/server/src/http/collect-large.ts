import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What leaves so much behind is worth a collection of some 30 ms. */
const everyBytes = 32 * 1024 * 1024

/**
 * Asks the collector to come when answers of so many bytes were made. Left to itself it first lets the heap grow to its initial limit, which is far more
 * than the pages of a list need: 120 large ones at once took 400 MiB, with this half of it.
 */
export class CollectLarge {
  #collect: (() => void) | undefined
  #made = 0

  note(bytes: number): void {
    this.#made += bytes
    if (this.#made < everyBytes) return
    this.#made = 0
    this.#collect ??= findCollector()
    // Not before what was made has left this turn.
    setImmediate(this.#collect)
  }
}

/** The collector can be called in a context that was made after it was exposed; nothing else sees it. */
function findCollector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  return () => collect()
}

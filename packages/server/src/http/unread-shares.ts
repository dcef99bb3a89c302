import type { ServerResponse } from 'node:http'
import { onceOver } from '@atrium/traffic/unread-answers'

interface WaitingAnswer {
  res: ServerResponse
  bytes: number
  sinceMs: number
  release: () => void
}

interface UnreadSharesOptions {
  /** The size of all answers that wait to be read. */
  maxBytes: number
  /** An answer that has waited this long may be ended to make room for another reader. */
  slowMs?: number
}

/**
 * The answers that wait for their readers, by reader: a tenant, or the address of a caller without a key. A reader may
 * have as much as stays free for all others, so a new answer counts twice: once as taken, once as kept free. With this
 * rule alone, each reader that does not read would halve the rest. So if a reader finds no room, slow answers of
 * readers that have at least as much as it would have are ended. Each of N readers can then have about one Nth, and any
 * number of readers that do not read keep answers from another one for seconds only.
 */
export class UnreadShares {
  readonly #maxBytes: number
  readonly #slowMs: number
  /** The answers of a reader, oldest first. */
  readonly #readers = new Map<string, { bytes: number; answers: Set<WaitingAnswer> }>()
  #bytes = 0

  constructor({ maxBytes, slowMs = 5_000 }: UnreadSharesOptions) {
    this.#maxBytes = maxBytes
    this.#slowMs = slowMs
  }

  /** Whether `makeRoom` would probably succeed. */
  mayHaveRoom(reader: string, bytes: number): boolean {
    return this.#fits(reader, bytes) || this.#findSlow(this.#bytesOf(reader) + bytes) !== undefined
  }

  /** Ends slow answers of other readers if there is no room otherwise. false: the answer must not be sent. */
  makeRoom(reader: string, bytes: number): boolean {
    if (this.#fits(reader, bytes)) return true
    for (const goal = this.#bytes - bytes; this.#bytes > goal;) {
      const slow = this.#findSlow(this.#bytesOf(reader) + bytes)
      if (!slow) return false
      slow.release()
      // Not destroy: a reset also frees what the kernel holds for the reader.
      slow.res.req.socket.resetAndDestroy()
    }
    return true
  }

  /** Counts an answer until it is sent. */
  add(reader: string, res: ServerResponse, bytes: number): void {
    if (res.destroyed || res.req.socket.destroyed) return
    const held = this.#readers.get(reader) ?? { bytes: 0, answers: new Set() }
    const answer = { res, bytes, sinceMs: performance.now(), release: () => {} }
    const off = onceOver(res, () => answer.release())
    answer.release = () => {
      off()
      if (!held.answers.delete(answer)) return
      this.#bytes -= bytes
      held.bytes -= bytes
      if (held.answers.size === 0) this.#readers.delete(reader)
    }
    this.#readers.set(reader, held)
    held.answers.add(answer)
    held.bytes += bytes
    this.#bytes += bytes
  }

  /** An answer larger than the budget fits if no other answer waits. */
  #fits(reader: string, bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + 2 * bytes + this.#bytesOf(reader) <= this.#maxBytes
  }

  #bytesOf(reader: string): number {
    return this.#readers.get(reader)?.bytes ?? 0
  }

  /** Of the readers that have a slow answer and at least so many bytes: the oldest answer of the one that has most. */
  #findSlow(atLeastBytes: number): WaitingAnswer | undefined {
    const slowSinceMs = performance.now() - this.#slowMs
    let most = atLeastBytes
    let slow: WaitingAnswer | undefined
    for (const { bytes, answers } of this.#readers.values()) {
      const [oldest] = answers
      if (bytes < most || (slow && bytes === most) || !oldest || oldest.sinceMs > slowSinceMs) continue
      most = bytes
      slow = oldest
    }
    return slow
  }
}

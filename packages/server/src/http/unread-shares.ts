import type { ServerResponse } from 'node:http'
import { onceOver, unreadMs } from '@atrium/traffic/unread-answers'

interface WaitingAnswer {
  res: ServerResponse
  bytes: number
  release: () => void
}

interface UnreadSharesOptions {
  /** The size of all answers that wait to be read. */
  maxBytes: number
  /** An answer of which nothing was taken for this long may be ended to make room for another reader. */
  slowMs?: number
}

/**
 * The answers that wait for their readers, by reader: a tenant, or the address of a caller without a key. A reader may
 * have as much as stays free for all others, so a new answer counts twice: once as taken, once as kept free. With this
 * rule alone, each reader that does not read would halve the rest. So if there is no room for a reader's answer, the server
 * ends slow answers to GET. It ends only those of readers that hold at least as much as this reader would hold with the new
 * answer. Each of N readers can then have about one Nth, and readers that take nothing keep answers from another one for
 * seconds only.
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
    return this.#fits(reader, bytes) || this.#findSlow(reader, bytes) !== undefined
  }

  /** Ends slow answers of other readers if there is no room otherwise. false: the answer must not be sent. */
  makeRoom(reader: string, bytes: number): boolean {
    if (this.#fits(reader, bytes)) return true
    const slow = this.#findSlow(reader, bytes)
    for (const { res, release } of slow ?? []) {
      release()
      // Not destroy: a reset also frees what the kernel holds for the reader.
      res.req.socket.resetAndDestroy()
    }
    return slow !== undefined
  }

  /** Counts an answer until it is sent. */
  add(reader: string, res: ServerResponse, bytes: number): void {
    if (res.destroyed || res.req.socket.destroyed) return
    const held = this.#readers.get(reader) ?? { bytes: 0, answers: new Set() }
    const answer = { res, bytes, release: () => {} }
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

  /**
   * The slow answers to end, so that an answer of `bytes` fits. Only readers that hold at least as much as `reader` would
   * hold are considered. Each step takes the oldest slow answer of the one that holds most. undefined: all of them would
   * not free enough, so none should be ended.
   */
  #findSlow(reader: string, bytes: number): WaitingAnswer[] | undefined {
    const least = this.#bytesOf(reader) + bytes
    const others = [...this.#readers.values()]
      .filter((held) => held.bytes >= least)
      .map((held) => ({ bytes: held.bytes, slow: [...held.answers].filter((answer) => this.#isSlow(answer)) }))
    const found: WaitingAnswer[] = []
    for (let missing = bytes; missing > 0;) {
      const able = others.filter((other) => other.bytes >= least && other.slow.length > 0)
      const most = able.sort((a, b) => b.bytes - a.bytes)[0]
      const oldest = most?.slow.shift()
      if (!most || !oldest) return undefined
      found.push(oldest)
      most.bytes -= oldest.bytes
      missing -= oldest.bytes
    }
    return found
  }

  /** The effect of another method is committed, so its answer is never ended. */
  #isSlow({ res }: WaitingAnswer): boolean {
    return res.req.method === 'GET' && unreadMs(res.req.socket) >= this.#slowMs
  }
}

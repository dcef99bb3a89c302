import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { onceOver, unreadMs } from '@atrium/traffic/unread-answers'

interface WaitingAnswer {
  res: ServerResponse
  bytes: number
  /** The answer may be ended, because the request can be repeated without another effect. */
  isRead: boolean
  release: () => void
  /** The bytes that the reader had taken when its pace was last measured. */
  taken: number
  sinceMs: number
  isSlow: boolean
}

interface UnreadSharesOptions {
  /** The size of all answers that wait to be read. */
  maxBytes: number
  /** An answer that was read slowly for this long may be ended to make room for another reader. */
  slowMs?: number
  /**
   * false: one reader may have the whole budget while no other reader needs room. Then all answers must be to reads.
   */
  keepsFree?: boolean
}

/** 256 kbit/s, as for uploads: a page of a list then takes less than two minutes. */
const slowBytesPerSecond = 32 * 1024

/**
 * The answers that wait for their readers, by reader: a tenant, or the address of a caller without a key. A reader may
 * have as much as stays free for all others, so a new answer counts twice: once as taken, once as kept free. With this
 * rule alone, each reader that does not read would halve the rest. So if there is no room for a reader's answer, the
 * server ends slow answers to reads. It ends only those of readers that hold at least as much as this reader would
 * hold with the new answer. Each of N readers can then have about one Nth, and readers that take nothing keep answers
 * from another one for seconds only.
 */
export class UnreadShares {
  readonly #maxBytes: number
  readonly #slowMs: number
  readonly #keepsFree: boolean
  /** The answers of a reader, oldest first. */
  readonly #readers = new Map<string, { bytes: number; answers: Set<WaitingAnswer> }>()
  #bytes = 0

  constructor({ maxBytes, slowMs = 5_000, keepsFree = true }: UnreadSharesOptions) {
    this.#maxBytes = maxBytes
    this.#keepsFree = keepsFree
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
  add(reader: string, res: ServerResponse, bytes: number, isRead: boolean): void {
    const { socket } = res.req
    if (res.destroyed || socket.destroyed) return
    const held = this.#readers.get(reader) ?? { bytes: 0, answers: new Set() }
    const sinceMs = performance.now()
    const answer = { res, bytes, isRead, release: () => {}, taken: takenOf(socket), sinceMs, isSlow: false }
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
    const free = this.#keepsFree ? bytes + this.#bytesOf(reader) : 0
    return this.#bytes === 0 || this.#bytes + bytes + free <= this.#maxBytes
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

  /**
   * The effect of a write is committed, so its answer is never ended. The pace is measured since the last measurement,
   * so that a reader does not count as fast for long because of what the buffers of the system took at once.
   */
  #isSlow(answer: WaitingAnswer): boolean {
    const { socket } = answer.res.req
    if (!answer.isRead) return false
    if (unreadMs(socket) >= this.#slowMs) return true
    const nowMs = performance.now()
    const passedMs = nowMs - answer.sinceMs
    if (passedMs < this.#slowMs) return answer.isSlow
    const taken = takenOf(socket)
    // If nothing waits in this process, the reader has taken everything so far.
    answer.isSlow = socket.writableLength > 0 && taken - answer.taken < (slowBytesPerSecond * passedMs) / 1_000
    answer.taken = taken
    answer.sinceMs = nowMs
    return answer.isSlow
  }
}

function takenOf(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength
}

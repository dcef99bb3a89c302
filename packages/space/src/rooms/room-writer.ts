import type { KeyObject } from 'node:crypto'
import { lineHash, sealLine } from '@atrium/sealing/node-lines'
import type { RoomRecord } from '@atrium/sealing/records'
import { isLocked } from '@atrium/traffic/database-errors'
import { lockPauseMs } from '@atrium/traffic/locked-retry'
import { Overloaded } from '@atrium/traffic/overloaded'
import { timeouts } from '@atrium/traffic/timeouts'
import { SpaceError } from '../space-error.ts'
import { roomLimits, type RoomHead } from './head.ts'
import { appendLines, type Db, type Growth, listHeads, type NewLine } from './store.ts'

/** A record to be appended, which was allowed under the policy of `head`. */
export interface Append {
  head: RoomHead
  key: KeyObject
  record: RoomRecord
  /** The record as it is sealed: its `formatRecord`. */
  payload: string
  /** A value that repeats for a repeat; undefined: never a repeat. */
  dedupe: string | undefined
}

/** written: at `seq`. repeated: the same was written before, at `seq`. policy_changed: to be allowed anew first. */
export type AppendOutcome = { kind: 'written' | 'repeated'; seq: number; head: RoomHead } | { kind: 'policy_changed' }

interface Waiting extends Append {
  tries: number
  untilMs: number
  resolve: (outcome: AppendOutcome) => void
  reject: (error: unknown) => void
}

const maxBatchLines = 256
const maxRunning = 2
const maxTries = 50
/** Of one room, and of all. */
const maxWaiting = { room: 256, all: 2_000 }
const checkEveryMs = 200
const maxKnownHeads = 2_000
const maxKnownPolicyBytes = 8_192

/**
 * Appends to rooms. What comes for one room is sealed one after the other, because each line holds the hash of the one before; what
 * comes for many rooms while a batch commits shares the next one. Where a room ends is remembered, and a batch that finds it elsewhere
 * (another process wrote) reads anew and tries again: memory is never trusted with the chain, the statement's comparison is.
 */
export class RoomWriter {
  readonly #db: Db
  readonly #waiting = new Map<string, Waiting[]>()
  /** Rooms that a running batch has, or that are left alone for a while because their row is locked. */
  readonly #busy = new Set<string>()
  /** How often a room's row was found locked: then only its first line is tried. */
  readonly #lockedTries = new Map<string, number>()
  readonly #known = new Map<string, RoomHead>()
  #running = 0
  /** When a batch last went well, or was begun while none ran. */
  #movedAtMs = 0
  /** The last batch that ended had failed. */
  #isFailing = false
  #scheduled = false
  #count = 0
  #checks: NodeJS.Timeout | undefined

  constructor(db: Db) {
    this.#db = db
  }

  /** Rejects with Overloaded when too many wait, or when it waited too long; then nothing was written. */
  append(append: Append): Promise<AppendOutcome> {
    const ofRoom = this.#waiting.get(append.head.room)?.length ?? 0
    const isStalled = this.#isFailing || performance.now() - this.#movedAtMs > timeouts.stalledMs
    if ((isStalled && this.#running >= maxRunning) || ofRoom >= maxWaiting.room || this.#count >= maxWaiting.all)
      return Promise.reject(new Overloaded('too many messages wait to be written'))
    return new Promise((resolve, reject) => {
      this.#queue({ ...append, tries: 0, untilMs: performance.now() + timeouts.lockedMs, resolve, reject })
      this.#checks ??= setInterval(() => this.#dropLate(), checkEveryMs).unref()
      this.#schedule()
    })
  }

  /** The head as last seen by this process: good enough to be allowed under, since the append compares. */
  knownHead(room: string): RoomHead | undefined {
    return this.#known.get(room)
  }

  forget(room: string): void {
    this.#known.delete(room)
  }

  #queue(waiting: Waiting): void {
    const { room } = waiting.head
    const queue = this.#waiting.get(room)
    if (queue) queue.push(waiting)
    else this.#waiting.set(room, [waiting])
    this.#count++
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= maxRunning || this.#waiting.size === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const batch = this.#take()
      if (batch.length > 0) void this.#run(batch)
    })
  }

  /** Rooms that no running batch has, up to a batch's size. */
  #take(): Waiting[][] {
    const batch: Waiting[][] = []
    let lines = 0
    for (const [room, queue] of this.#waiting) {
      if (this.#busy.has(room)) continue
      if (lines >= maxBatchLines) break
      const taken = queue.splice(0, this.#lockedTries.has(room) ? 1 : maxBatchLines - lines)
      this.#count -= taken.length
      if (queue.length === 0) this.#waiting.delete(room)
      this.#busy.add(room)
      lines += taken.length
      batch.push(taken)
    }
    return batch
  }

  async #run(batch: Waiting[][]): Promise<void> {
    if (this.#running++ === 0) this.#movedAtMs = performance.now()
    this.#schedule()
    const locked = new Set<string>()
    try {
      await this.#write(batch, locked)
      this.#movedAtMs = performance.now()
      this.#isFailing = false
    } catch (error) {
      this.#isFailing = !isLocked(error)
      await this.#fail(batch, locked, error)
    } finally {
      for (const [first] of batch) this.#free(first!.head.room, locked.has(first!.head.room))
      this.#running--
      this.#schedule()
    }
  }

  /** What a batch waited for in vain it does not tell: then each room gets its own try, so that one does not fail the others. */
  async #fail(batch: Waiting[][], locked: Set<string>, error: unknown): Promise<void> {
    if (isLocked(error) && batch.length > 1) {
      for (const queue of batch) await this.#write([queue], locked).catch((own: unknown) => this.#fail([queue], locked, own))
      return
    }
    for (const queue of batch) {
      const { room } = queue[0]!.head
      this.#known.delete(room)
      if (isLocked(error)) this.#putBack(queue, locked)
      else for (const waiting of queue) waiting.reject(error)
    }
  }

  /** Before all that came later. */
  #putBack(queue: Waiting[], locked: Set<string>): void {
    const { room } = queue[0]!.head
    locked.add(room)
    this.#count += queue.length
    this.#waiting.set(room, [...queue, ...(this.#waiting.get(room) ?? [])])
  }

  #free(room: string, isLocked: boolean): void {
    const tries = this.#lockedTries.get(room) ?? 0
    if (!isLocked) {
      this.#lockedTries.delete(room)
      this.#busy.delete(room)
      return
    }
    this.#lockedTries.set(room, tries + 1)
    setTimeout(() => {
      if (!this.#waiting.has(room)) this.#lockedTries.delete(room)
      this.#busy.delete(room)
      this.#schedule()
    }, lockPauseMs(tries))
  }

  #dropLate(): void {
    if (this.#count === 0) {
      clearInterval(this.#checks)
      this.#checks = undefined
      return
    }
    const now = performance.now()
    for (const [room, queue] of this.#waiting) {
      const late = queue.filter(({ untilMs }) => now >= untilMs)
      if (late.length === 0) continue
      this.#count -= late.length
      if (late.length === queue.length) this.#waiting.delete(room)
      else
        this.#waiting.set(
          room,
          queue.filter(({ untilMs }) => now < untilMs),
        )
      for (const { reject } of late) reject(new Overloaded('the message waited too long to be written'))
    }
  }

  async #write(batch: Waiting[][], locked: Set<string>): Promise<void> {
    const heads = await this.#heads(batch.map(([first]) => first!.head.room))
    const plans = batch.flatMap((queue, i) => plan(queue, heads[i]))
    const growing = plans.filter(({ growth }) => growth.lines.length > 0)
    if (growing.length === 0) return
    const outcomes = await appendLines(
      this.#db,
      growing.map(({ growth }) => growth),
    )
    growing.forEach(({ growth, written }, i) => {
      const outcome = outcomes[i]!
      if (outcome === 'locked')
        return this.#putBack(
          written.map(({ waiting }) => waiting),
          locked,
        )
      if (outcome === 'moved') {
        this.#know(growth.to)
        for (const { waiting, kind, seq } of written) waiting.resolve({ kind, seq, head: growth.to })
        return
      }
      this.#known.delete(growth.from.room)
      const repeated = new Map(outcome === 'stale' ? [] : outcome.map(({ dedupe, seq }) => [dedupe, seq]))
      for (const { waiting } of written) {
        const seq = waiting.dedupe === undefined ? undefined : repeated.get(waiting.dedupe)
        if (seq === undefined) this.#again(waiting)
        else waiting.resolve({ kind: 'repeated', seq, head: growth.from })
      }
    })
  }

  async #heads(rooms: string[]): Promise<(RoomHead | undefined)[]> {
    const unknown = rooms.filter((room) => !this.#known.has(room))
    if (unknown.length === 0) return rooms.map((room) => this.#known.get(room))
    const read = await listHeads(this.#db, unknown)
    const byRoom = new Map(unknown.map((room, i) => [room, read[i]]))
    return rooms.map((room) => this.#known.get(room) ?? byRoom.get(room))
  }

  #know(head: RoomHead): void {
    this.#known.delete(head.room)
    // A long list is read anew rather than kept: memory stays bounded.
    if (head.policyLine.length > maxKnownPolicyBytes) return
    if (this.#known.size >= maxKnownHeads) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(head.room, head)
  }

  #again(waiting: Waiting): void {
    waiting.tries++
    if (waiting.tries >= maxTries) waiting.reject(new SpaceError('unavailable', 'the room is too busy', 1))
    else this.#queue(waiting)
  }
}

interface Plan {
  growth: Growth
  written: { waiting: Waiting; kind: 'written' | 'repeated'; seq: number }[]
}

/** Seals what waits for a room behind its last line. What cannot be appended is answered at once. */
function plan(queue: Waiting[], from: RoomHead | undefined): Plan[] {
  if (!from) {
    for (const waiting of queue) waiting.reject(new SpaceError('not_found', 'room'))
    return []
  }
  let to = from
  const lines: NewLine[] = []
  const written: Plan['written'] = []
  const first = new Map<string, number>()
  for (const waiting of queue) {
    const earlier = waiting.dedupe === undefined ? undefined : first.get(waiting.dedupe)
    if (waiting.head.policyHash !== to.policyHash) {
      waiting.resolve({ kind: 'policy_changed' })
    } else if (earlier !== undefined) {
      // A repeat in the same batch: what counts is its first.
      written.push({ waiting, kind: 'repeated', seq: earlier })
    } else {
      const grown = grow(to, waiting)
      if (!grown) {
        waiting.reject(new SpaceError('payload_too_large', 'the room is full'))
        continue
      }
      if (waiting.dedupe !== undefined) first.set(waiting.dedupe, to.count)
      lines.push({ seq: to.count, line: grown.line, dedupe: waiting.dedupe ?? null })
      written.push({ waiting, kind: 'written', seq: to.count })
      to = grown.head
    }
  }
  return [{ growth: { from, to, lines }, written }]
}

function grow(head: RoomHead, { key, record, payload }: Append): { head: RoomHead; line: string } | undefined {
  const line = sealLine({ key, seq: head.count, prev: head.etag, payload })
  const bytes = head.bytes + line.length + 1
  if (head.count >= roomLimits.lines || bytes > roomLimits.bytes) return undefined
  const etag = lineHash(line)
  const policy = record.t === 'policy' ? { policySeq: head.count, policyHash: etag, policyLine: line } : {}
  return { line, head: { ...head, count: head.count + 1, etag, bytes, ...policy } }
}

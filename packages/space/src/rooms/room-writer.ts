import { isLocked } from '@atrium/traffic/database-errors'
import { lockPauseMs } from '@atrium/traffic/locked-retry'
import { Overloaded } from '@atrium/traffic/overloaded'
import { Shards } from '@atrium/traffic/shards'
import { timeouts } from '@atrium/traffic/timeouts'
import { SpaceError } from '../space-error.ts'
import type { RoomHead } from './head.ts'
import { type Append, type AppendOutcome, planLines, type Waiting } from './plan-lines.ts'
import { appendLines, listHeads, roomChannel, type WakingDb } from './store.ts'

/** The lines of one room that are written together. */
interface RoomQueue {
  room: string
  queue: Waiting[]
}

const maxBatchLines = 256
/** How many batches run at once: of one shard, and of all. */
const maxRunning = { shard: 2, all: 12 }
const maxTries = 50
/** The limits of one room, and of all rooms. */
const maxWaiting = { room: 256, all: 2_000 }
const checkIntervalMs = 200
const maxKnownHeads = 2_000
const maxKnownPolicyBytes = 8_192

/**
 * Appends to rooms. Lines of one room are sealed one after the other, because each contains the hash of the line
 * before it. Lines of many rooms that arrive while a batch commits share the next batch. The end of each room is
 * cached; a batch that finds another end (another process wrote) reads it and tries again. The chain never depends
 * on the cache, because the statement compares the end.
 */
export class RoomWriter {
  readonly #db: WakingDb
  readonly #waiting = new Map<string, Waiting[]>()
  /** Rooms that are in a running batch, or that pause because their row is locked. */
  readonly #busy = new Set<string>()
  /** How often a room's row was found locked: then only its first line is tried. */
  readonly #lockedTries = new Map<string, number>()
  readonly #known = new Map<string, RoomHead>()
  readonly #shards: Shards
  readonly #maxRunning: number
  /** How many batches of each shard run. */
  readonly #runningOf = new Map<number, number>()
  #running = 0
  /** When a batch last succeeded, or began while none ran. */
  #movedAtMs = 0
  /** Whether the last batch failed. */
  #isFailing = false
  #scheduled = false
  #count = 0
  #checks: NodeJS.Timeout | undefined

  constructor(db: WakingDb, shards: Shards = new Shards()) {
    this.#db = db
    this.#shards = shards
    this.#maxRunning = Math.min(maxRunning.all, maxRunning.shard * shards.count)
  }

  /** Rejects with Overloaded if too many lines wait, or if this one waited too long; then nothing was written. */
  append(append: Append): Promise<AppendOutcome> {
    const ofRoom = this.#waiting.get(append.head.room)?.length ?? 0
    const isStalled = this.#isFailing || performance.now() - this.#movedAtMs > timeouts.stalledMs
    if ((isStalled && this.#running >= this.#maxRunning) || ofRoom >= maxWaiting.room || this.#count >= maxWaiting.all)
      return Promise.reject(new Overloaded('too many messages wait to be written'))
    return new Promise((resolve, reject) => {
      this.#queue({ ...append, tries: 0, untilMs: performance.now() + timeouts.lockedMs, resolve, reject })
      this.#schedule()
    })
  }

  /** How many lines wait to be written. */
  get waitingCount(): number {
    return this.#count
  }

  /** The head as last seen by this process. It is good enough for authorisation, because the append compares it. */
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
    this.#countWaiting(1)
  }

  /** Late lines are looked for while any waits. The check ends when none does, such as while the only one is being tried. */
  #countWaiting(lines: number): void {
    this.#count += lines
    this.#checks ??= setInterval(() => this.#dropLate(), checkIntervalMs).unref()
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#maxRunning || this.#waiting.size === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const batch = this.#take()
      if (batch.length > 0) void this.#run(batch)
    })
  }

  /** The rooms of the next batch: those of one shard that are in no running batch, up to the size of a batch. */
  #take(): RoomQueue[] {
    const batch: RoomQueue[] = []
    let lines = 0
    let shard: number | undefined
    for (const [room, queue] of this.#waiting) {
      if (this.#busy.has(room)) continue
      if (lines >= maxBatchLines) break
      const own = this.#shards.shardOf(room)
      if (own !== (shard ?? own) || (this.#runningOf.get(own) ?? 0) >= maxRunning.shard) continue
      shard = own
      const taken = queue.splice(0, this.#lockedTries.has(room) ? 1 : maxBatchLines - lines)
      this.#count -= taken.length
      if (queue.length === 0) this.#waiting.delete(room)
      this.#busy.add(room)
      lines += taken.length
      batch.push({ room, queue: taken })
    }
    return batch
  }

  async #run(batch: RoomQueue[]): Promise<void> {
    if (this.#running++ === 0) this.#movedAtMs = performance.now()
    const shard = this.#shards.shardOf(batch[0]?.room ?? '')
    this.#runningOf.set(shard, (this.#runningOf.get(shard) ?? 0) + 1)
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
      for (const { room } of batch) this.#free(room, locked.has(room))
      this.#runningOf.set(shard, (this.#runningOf.get(shard) ?? 1) - 1)
      this.#running--
      this.#schedule()
    }
  }

  /** A batch does not say which row it waited for. Each room is then tried alone, so that none fails the others. */
  async #fail(batch: RoomQueue[], locked: Set<string>, error: unknown): Promise<void> {
    if (isLocked(error) && batch.length > 1) {
      for (const one of batch) await this.#write([one], locked).catch((own: unknown) => this.#fail([one], locked, own))
      return
    }
    for (const one of batch) {
      this.#known.delete(one.room)
      if (isLocked(error)) this.#putBack(one, locked)
      else for (const waiting of one.queue) waiting.reject(error)
    }
  }

  /** Placed before everything that arrived later. */
  #putBack({ room, queue }: RoomQueue, locked: Set<string>): void {
    locked.add(room)
    this.#countWaiting(queue.length)
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
      const rest = queue.filter(({ untilMs }) => now < untilMs)
      if (rest.length > 0) this.#waiting.set(room, rest)
      else this.#waiting.delete(room)
      for (const { reject } of late) reject(new Overloaded('the message waited too long to be written'))
    }
  }

  async #write(batch: RoomQueue[], locked: Set<string>): Promise<void> {
    const heads = await this.#heads(batch.map(({ room }) => room))
    const plans = batch.flatMap(({ queue }, i) => planLines(queue, heads[i]))
    const growing = plans.filter(({ lines }) => lines.length > 0)
    if (growing.length === 0) return
    for (const [{ from, to, written }, outcome] of await appendLines(this.#db, growing, this.#shards.count > 1)) {
      const { room } = from
      if (outcome === 'locked') {
        this.#putBack({ room, queue: written.map(({ waiting }) => waiting) }, locked)
        continue
      }
      if (outcome === 'moved') {
        this.#know(to)
        this.#db.wake(roomChannel, room)
        for (const { waiting, kind, seq } of written) waiting.resolve({ kind, seq, head: to })
        continue
      }
      this.#known.delete(room)
      const repeated = new Map(outcome === 'stale' ? [] : outcome.map(({ dedupe, seq }) => [dedupe, seq]))
      for (const { waiting } of written) {
        const seq = waiting.dedupe === undefined ? undefined : repeated.get(waiting.dedupe)
        if (seq === undefined) this.#again(waiting)
        else waiting.resolve({ kind: 'repeated', seq, head: from })
      }
    }
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
    // A long list is not cached, so that memory stays bounded.
    if (head.policyLine.length > maxKnownPolicyBytes) return
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= maxKnownHeads) this.#known.delete(oldest)
    this.#known.set(head.room, head)
  }

  #again(waiting: Waiting): void {
    waiting.tries++
    if (waiting.tries >= maxTries) waiting.reject(new SpaceError('unavailable', 'the room is too busy', 1))
    else this.#queue(waiting)
  }
}

import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises'
import { Counter, type Registry } from '#libraries/prom-client.js'
import type { Db } from '#db/database.ts'
import { ByShard } from '#features/distribution/by-shard.ts'
import type { TenantShards } from '#features/distribution/tenant-shards.ts'
import { isOneChunk, toChunk, type RequestChunk } from './chunk.ts'
import { insertChunks, type LoggedRequest } from './store.ts'

/** About 3 MB. At 2,000 requests a second it takes five seconds of an outage. */
const maxWaiting = 10_000
/** What may wait for nodes of a Citus cluster that are down, so that there is room for the tenants of other nodes. */
const maxLeft = maxWaiting / 2
/** So many are written at once, so that a process which answers more than `maxWaiting` requests a second drops none. */
const earlyAt = maxWaiting / 4
/** The chunks of one statement: at most 3 MB if they are full. */
const batchSize = 50
const intervalMs = 1_000
/** After so many entries and chunks, other work has a turn: an entry takes some 1.5 µs, and a chunk 3. */
const formedAtOnce = 500
/** At the end, entries whose node of a cluster has failed are tried again for a while. */
const closing = { forMs: 1_000, pauseMs: 250 }

interface RequestLogOptions {
  db: Db
  tenantShards: TenantShards
  registry: Registry
  /** 0: nothing is logged. */
  days: number
  onError: (error: unknown) => void
}

/**
 * Collects answered requests in memory and writes them once a second, beside the requests, or earlier if many wait. If
 * the database does not keep up, further entries are dropped and counted. A killed process loses its last second.
 */
export class RequestLog {
  readonly #options: RequestLogOptions
  readonly #timer: NodeJS.Timeout
  readonly #dropped: Counter
  readonly #failures: Counter
  readonly #byShard: ByShard
  /** Errors that were reported. All chunks of a shard that is left out fail with the error of its outage. */
  readonly #reported = new WeakSet<Error>()
  /** The entries of each tenant that are not in a chunk yet. */
  #open = new Map<string, LoggedRequest[]>()
  /** Chunks stay as they are until they are written, so that one that is sent twice is the same row. */
  readonly #chunks = new Set<RequestChunk>()
  /** How many entries wait, in chunks or not. */
  #held = 0
  #running = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(options: RequestLogOptions) {
    this.#options = options
    this.#byShard = new ByShard(options.tenantShards)
    const registers = [options.registry]
    this.#dropped = new Counter({
      name: 'atrium_request_log_dropped_total',
      help: 'Entries of the request log that were dropped because too many wait to be written.',
      registers,
    })
    this.#failures = new Counter({
      name: 'atrium_request_log_failures_total',
      help: 'Batches of the request log that could not be written; they are retried.',
      registers,
    })
    this.#timer = setInterval(() => void this.flush(), intervalMs).unref()
  }

  /** Whether this installation logs requests. */
  get isOn(): boolean {
    return this.#options.days > 0
  }

  note(request: LoggedRequest): void {
    if (this.#held >= maxWaiting) return this.#dropped.inc()
    this.#held++
    const group = this.#open.get(request.tenantId)
    if (group && isOneChunk(group, request)) group.push(request)
    else {
      // A chunk is formed as soon as it is full: all chunks of a busy second together would delay the requests of that moment.
      if (group) this.#chunks.add(toChunk(group))
      this.#open.set(request.tenantId, [request])
    }
    if (this.#held === earlyAt) void this.flush()
  }

  /** Writes what waits; never rejects. Calls made while a write runs share the next one. */
  flush(): Promise<void> {
    if (this.#held === 0) return this.#running
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      return (this.#running = this.#write())
    })
    return this.#next
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    const endsAtMs = performance.now() + closing.forMs
    await this.flush()
    if (!this.#byShard.isSpread) return
    // A node that has failed may be back: then the first attempt, for which nobody waits, writes the entries.
    while (this.#held > 0 && performance.now() < endsAtMs) {
      await delay(closing.pauseMs)
      await this.flush()
    }
  }

  async #write(): Promise<void> {
    try {
      for (;;) {
        await this.#formChunks()
        if (this.#chunks.size === 0) return
        const byTenant = Map.groupBy(this.#chunks, ({ tenantId }) => tenantId)
        const { failed } = await this.#byShard.run([...byTenant.keys()], (ids) =>
          this.#insert(ids.flatMap((id) => byTenant.get(id) ?? [])),
        )
        if (failed.size > 0) {
          this.#dropLeft(failed)
          return this.#report(new Set(failed.values()))
        }
        // A few that came meanwhile wait for the next second: alone, they would be many small chunks.
        if (this.#held < earlyAt) return
      }
    } catch (error) {
      this.#report([error])
    }
  }

  async #formChunks(): Promise<void> {
    const groups = this.#open
    this.#open = new Map()
    let formed = 0
    for (const group of groups.values()) {
      this.#chunks.add(toChunk(group))
      formed += 1 + group.length
      if (formed < formedAtOnce) continue
      await immediate()
      formed = 0
    }
  }

  async #insert(chunks: RequestChunk[]): Promise<void> {
    for (let at = 0; at < chunks.length; at += batchSize) {
      const batch = chunks.slice(at, at + batchSize)
      await insertChunks(this.#options.db, batch)
      for (const chunk of batch) this.#remove(chunk)
    }
  }

  /** A write that was given up may end later, when the chunk was dropped or written again. */
  #remove(chunk: RequestChunk): boolean {
    const isHere = this.#chunks.delete(chunk)
    if (isHere) this.#held -= chunk.requests
    return isHere
  }

  /** Drops the oldest chunks of tenants whose node has failed. A set keeps the order in which they came. */
  #dropLeft(failed: ReadonlyMap<string, unknown>): void {
    const left = [...this.#chunks].filter(({ tenantId }) => failed.has(tenantId))
    let entries = left.reduce((sum, { requests }) => sum + requests, 0)
    for (const chunk of left) {
      if (entries <= maxLeft) return
      entries -= chunk.requests
      if (this.#remove(chunk)) this.#dropped.inc(chunk.requests)
    }
  }

  #report(errors: Iterable<unknown>): void {
    this.#failures.inc()
    for (const error of errors) {
      if (error instanceof Error && this.#reported.has(error)) continue
      if (error instanceof Error) this.#reported.add(error)
      this.#options.onError(error)
    }
  }
}

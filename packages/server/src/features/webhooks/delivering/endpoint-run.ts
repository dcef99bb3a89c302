import { setTimeout as delay } from 'node:timers/promises'
import { Semaphore } from '@atrium/traffic/semaphore'
import type { Db } from '#db/database.ts'
import type { Context } from '#features/context.ts'
import type { Span } from '#ports/tracing/tracing.ts'
import { eventView } from '#features/events/event.ts'
import type { ShardGuard } from '#features/distribution/shard-guard.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { type DueDelivery, listDue } from '../delivery-store.ts'
import { settleQueue } from '../queue-store.ts'
import { type Endpoint, sendEvent } from '../send-event.ts'
import { type EndpointRef, keyOf } from '../webhook.ts'
import { type ClaimedEndpoint, disableWebhook, maxPauseSeconds, releaseEndpoint } from './lease-store.ts'
import type { OutcomeWriter } from './outcome-writer.ts'

/** The state that the runs of one worker share. */
export interface RunShare {
  ctx: Pick<Context, 'db' | 'egress' | 'log' | 'metrics'>
  owner: string
  outcomes: OutcomeWriter
  guard: ShardGuard
  /**
   * Concurrent requests to all healthy endpoints, and to all whose last attempt failed: those cannot starve the
   * healthy ones.
   */
  permits: { healthy: Semaphore; failing: Semaphore }
}

const batchSize = 64

/** Where deliveries are spread: what was queued last is almost always visible after the milliseconds of a commit. */
const hiddenPauseMs = 30
const maxLooks = 5
/** The pause of an endpoint whose deliveries are still not visible then. */
const unsettledPauseMs = 500
/** The pause after an outcome that the database rejects: the endpoint receives that delivery again, but not all the time. */
const rejectedPauseMs = 60_000

/** After this time a worker claims the endpoint again, and so reads the secrets that sign by then. */
const maxRunMs = 60_000

/** Sends the due deliveries of one endpoint, while this worker holds the endpoint's lease. */
export class EndpointRun {
  readonly done: Promise<void>
  readonly #share: RunShare
  readonly #ref: EndpointRef
  readonly #endpoint: Endpoint
  readonly #resumeAt: string | null
  readonly #circuit: Circuit
  readonly #permits: Semaphore
  readonly #sending = new Map<number, Promise<void>>()
  readonly #abort = new AbortController()
  #isOver = false
  #isGone = false
  /** Besides that of the circuit. */
  #pauseMs = 0

  constructor(share: RunShare, { tenantId, endpointId, url, failures, resumeAt }: ClaimedEndpoint, secrets: string[]) {
    this.#share = share
    this.#ref = { tenantId, endpointId }
    this.#endpoint = { url, secrets }
    this.#resumeAt = resumeAt
    this.#circuit = new Circuit(failures)
    this.#permits = new Semaphore(this.#circuit.width)
    this.done = this.#run().catch((error: unknown) => {
      // Hundreds of endpoints may wait for a shard that has failed.
      if (share.guard.hasLogged(error)) return
      share.ctx.log.error({ err: error, endpoint: keyOf(this.#ref) }, 'deliveries to an endpoint were interrupted')
    })
  }

  /** Starts no further attempt. */
  finish(): void {
    this.#isOver = true
  }

  /** Aborts the attempts in progress too. A later run repeats them. */
  abort(reason: string): void {
    this.#isOver = true
    this.#abort.abort(new Error(reason))
  }

  async #run(): Promise<void> {
    try {
      await this.#sendAll()
    } finally {
      await Promise.all(this.#sending.values())
      await this.#release()
    }
  }

  async #sendAll(): Promise<void> {
    const endsAtMs = performance.now() + maxRunMs
    let looks = 0
    while (!this.#isOver && performance.now() < endsAtMs) {
      const due = await this.#onShard((db) => listDue(db, this.#ref, [...this.#sending.keys()], batchSize))
      if (due.length === 0 && this.#sending.size === 0) {
        if ((await this.#isSettled()) || ++looks === maxLooks) return
        continue
      }
      looks = 0
      if (due.length === 0) await Promise.race(this.#sending.values())
      for (const delivery of due) {
        await this.#permits.acquire()
        if (this.#isOver) return
        const { sequence } = delivery.event
        const sent = this.#send(delivery).finally(() => {
          this.#sending.delete(sequence)
          this.#permits.release()
        })
        this.#sending.set(sequence, sent)
      }
    }
  }

  #onShard<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const { ctx, guard } = this.#share
    return guard.run(this.#ref.tenantId, () => work(ctx.db))
  }

  /** Whether nothing is due. Waits for a moment if that is not known. */
  async #isSettled(): Promise<boolean> {
    // A run that is over keeps its pause.
    if (!this.#share.guard.shards.isSpread || this.#isOver) return true
    const outcome = await this.#onShard((db) => settleQueue(db, this.#ref))
    this.#pauseMs = outcome === 'settled' ? 0 : unsettledPauseMs
    if (outcome === 'hidden') await delay(hiddenPauseMs)
    return outcome === 'settled'
  }

  async #send({ event, dueAt, attempts, attemptsInRound }: DueDelivery): Promise<void> {
    const { ctx, outcomes, permits } = this.#share
    const pool = this.#circuit.failures > 0 ? permits.failing : permits.healthy
    await pool.acquire()
    try {
      const send = async (span: Span) => {
        const sent = await sendEvent(ctx, this.#endpoint, eventView(event), this.#abort.signal)
        if (sent.responseStatus !== null) span.set({ 'http.response.status_code': sent.responseStatus })
        return sent
      }
      const attempt = await ctx.metrics.measure('webhook_delivery', send, outcomeOf).finally(() => pool.release())
      this.#learn(attempt)
      const retryInMs = attempt.succeeded ? undefined : retryAfterMs(attemptsInRound + 1)
      await outcomes.add({ ...this.#ref, sequence: event.sequence, dueAt, attempts, ...attempt, retryInMs }, this.#abort.signal)
    } catch (error) {
      if (this.#abort.signal.aborted) return
      // A later run of the endpoint sends the event again.
      this.#isOver = true
      this.#pauseMs = rejectedPauseMs
      ctx.log.error({ err: error, endpoint: keyOf(this.#ref) }, 'cannot write the outcome of a delivery')
    }
  }

  #learn({ succeeded, responseStatus }: { succeeded: boolean; responseStatus: number | null }): void {
    this.#circuit.note(succeeded)
    this.#permits.limit = this.#circuit.width
    if (responseStatus === 410) this.#isGone = true
    if (this.#isGone || this.#circuit.pauseMs() > 0) this.#isOver = true
  }

  async #release(): Promise<void> {
    const { ctx, owner } = this.#share
    const { failures } = this.#circuit
    if (this.#isGone || failures > 0) await this.#disable(this.#isGone ? 'gone' : 'failing')
    const pauseMs = Math.max(this.#circuit.pauseMs(), this.#pauseMs)
    await releaseEndpoint(ctx.db, owner, this.#ref, { failures, resumeAt: this.#resumeAt, pauseMs })
  }

  /** Disables the endpoint where that is due, and records the event for its tenant. */
  async #disable(reason: 'gone' | 'failing'): Promise<void> {
    const { ctx, owner } = this.#share
    const { tenantId, endpointId } = this.#ref
    await ctx.db.lane(tenantId).transaction(async (tx) => {
      const disabled = await disableWebhook(tx, owner, this.#ref, reason)
      if (disabled)
        await recordEvent(tx, tenantId, 'webhook.disabled', {
          endpoint: endpointId,
          reason,
          failing_since: disabled.failingSince,
        })
    })
  }
}

function outcomeOf({ succeeded, responseStatus }: { succeeded: boolean; responseStatus: number | null }): string {
  if (succeeded) return 'delivered'
  return responseStatus === null ? 'unreachable' : 'refused'
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The wait after each failed attempt: ten attempts, over 75 hours and a half. */
const waitsMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

export const maxAttempts = waitsMs.length + 1

/**
 * The wait after that many failed attempts, plus or minus a tenth, so that deliveries that failed together are not
 * retried together. undefined: no further attempt. `random` is from 0 to 1.
 */
export function retryAfterMs(attempts: number, random = Math.random()): number | undefined {
  const waitMs = waitsMs[attempts - 1]
  return waitMs === undefined ? undefined : Math.round(waitMs * (0.9 + 0.2 * random))
}

/**
 * After this many failures in a row an endpoint receives one request at a time, with a pause after each that fails.
 */
const opensAfter = 5
const firstPauseMs = 5_000

/** How many concurrent requests an endpoint receives: few at first, one more with each success. */
const firstWidth = 2
const maxWidth = 16

/**
 * The circuit breaker of one endpoint. An endpoint that hangs costs one request of 15 seconds every five minutes,
 * whether one event or ten thousand are due to it.
 */
export class Circuit {
  #failures: number
  #width: number

  /** `failures`: in a row, as the worker that last sent to the endpoint stored them. */
  constructor(failures: number) {
    this.#failures = failures
    this.#width = failures > 0 ? 1 : firstWidth
  }

  get failures(): number {
    return this.#failures
  }

  /** How many requests may be in progress. */
  get width(): number {
    return this.#width
  }

  note(succeeded: boolean): void {
    this.#failures = succeeded ? 0 : this.#failures + 1
    this.#width = succeeded ? Math.min(this.#width + 1, maxWidth) : Math.max(1, Math.floor(this.#width / 2))
  }

  /** The pause before the next request; 0: none. */
  pauseMs(random = Math.random()): number {
    if (this.#failures < opensAfter) return 0
    const pauseMs = firstPauseMs * 2 ** Math.min(this.#failures - opensAfter, 20)
    return Math.round(Math.min(pauseMs, maxPauseSeconds * 1_000) * (0.9 + 0.2 * random))
  }
}

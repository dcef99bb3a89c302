import { Semaphore } from '@atrium/traffic/semaphore'
import type { Context } from '#features/context.ts'
import { eventView } from '#features/events/event.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { listDue, type DueDelivery, type OutcomeWriter } from '../delivery-store.ts'
import { sendEvent, type Endpoint } from '../send-event.ts'
import { disableWebhook, releaseEndpoint, type ClaimedEndpoint } from './lease-store.ts'
import { Circuit, retryAfterMs } from './pacing.ts'

/** The state that the runs of one worker share. */
export interface RunShare {
  ctx: Pick<Context, 'db' | 'egress' | 'log'>
  owner: string
  outcomes: OutcomeWriter
  /**
   * Concurrent requests to all healthy endpoints, and to all whose last attempt failed: those cannot starve the
   * healthy ones.
   */
  permits: { healthy: Semaphore; failing: Semaphore }
}

const batchSize = 64
/** After this time a worker claims the endpoint again, and so reads the secrets that sign by then. */
const maxRunMs = 60_000

/** Sends the due deliveries of one endpoint, while this worker holds the endpoint's lease. */
export class EndpointRun {
  readonly done: Promise<void>
  readonly #share: RunShare
  readonly #tenantId: string
  readonly #endpoint: Endpoint
  readonly #circuit: Circuit
  readonly #permits: Semaphore
  readonly #sending = new Map<number, Promise<void>>()
  readonly #abort = new AbortController()
  #isOver = false
  #isGone = false

  constructor(share: RunShare, { tenantId, url, failures }: ClaimedEndpoint, secrets: string[]) {
    this.#share = share
    this.#tenantId = tenantId
    this.#endpoint = { url, secrets }
    this.#circuit = new Circuit(failures)
    this.#permits = new Semaphore(this.#circuit.width)
    this.done = this.#run().catch((error: unknown) =>
      share.ctx.log.error({ err: error, tenant: tenantId }, 'deliveries to an endpoint were interrupted'),
    )
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
    while (!this.#isOver && performance.now() < endsAtMs) {
      const due = await listDue(this.#share.ctx.db, this.#tenantId, [...this.#sending.keys()], batchSize)
      if (due.length === 0 && this.#sending.size === 0) return
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

  async #send({ event, attemptsInRound }: DueDelivery): Promise<void> {
    const { ctx, outcomes, permits } = this.#share
    const pool = this.#circuit.failures > 0 ? permits.failing : permits.healthy
    await pool.acquire()
    try {
      const attempt = await sendEvent(ctx, this.#endpoint, eventView(event), this.#abort.signal).finally(() => pool.release())
      this.#learn(attempt)
      const retryInMs = attempt.succeeded ? undefined : retryAfterMs(attemptsInRound + 1)
      await outcomes.add({ tenantId: this.#tenantId, sequence: event.sequence, ...attempt, retryInMs })
    } catch (error) {
      if (this.#abort.signal.aborted) return
      // Most likely the database: the next run of the endpoint sends the event again.
      this.#isOver = true
      ctx.log.error({ err: error, tenant: this.#tenantId }, 'cannot write the outcome of a delivery')
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
    if (failures > 0) await this.#disable(this.#isGone ? 'gone' : 'failing')
    await releaseEndpoint(ctx.db, owner, this.#tenantId, { failures, pauseMs: this.#circuit.pauseMs() })
  }

  /** Disables the endpoint where that is due, and records the event for its tenant. */
  async #disable(reason: 'gone' | 'failing'): Promise<void> {
    const { ctx, owner } = this.#share
    const tenantId = this.#tenantId
    await ctx.db.lane(tenantId).transaction(async (tx) => {
      const disabled = await disableWebhook(tx, owner, tenantId, reason)
      if (disabled) await recordEvent(tx, tenantId, 'webhook.disabled', { reason, failing_since: disabled.failingSince })
    })
  }
}

import { Semaphore } from '@atrium/traffic/semaphore'
import type { Context } from '#features/context.ts'
import { eventView } from '#features/events/event.ts'
import { retryAfterMs } from '../retry-schedule.ts'
import { sendEvent, type Endpoint } from '../send-event.ts'
import { Circuit } from './circuit.ts'
import { disableEndpoint } from './disable-endpoint.ts'
import { listDue, type DueDelivery } from './due.ts'
import { releaseEndpoint, type ClaimedEndpoint } from './lease.ts'
import type { OutcomeWriter } from './outcomes.ts'

/** What the runs of one worker share. */
export interface RunShare {
  ctx: Pick<Context, 'db' | 'egress' | 'log'>
  owner: string
  outcomes: OutcomeWriter
  /** Tries at once over all endpoints that do well, and over all whose last try failed: those cannot use up the others'. */
  slots: { sound: Semaphore; suspect: Semaphore }
}

const readAtOnce = 64
/** Then it is given up and taken anew, by whoever comes first, with the secrets that sign by then. */
const maxRunMs = 60_000

/** Sends what is due to one endpoint, while this worker holds its lease. */
export class EndpointRun {
  readonly done: Promise<void>
  readonly #share: RunShare
  readonly #tenantId: string
  readonly #endpoint: Endpoint
  readonly #circuit: Circuit
  readonly #lanes: Semaphore
  readonly #sending = new Map<number, Promise<void>>()
  readonly #abort = new AbortController()
  #isOver = false
  #isGone = false

  constructor(share: RunShare, { tenantId, url, failures }: ClaimedEndpoint, secrets: string[]) {
    this.#share = share
    this.#tenantId = tenantId
    this.#endpoint = { url, secrets }
    this.#circuit = new Circuit(failures)
    this.#lanes = new Semaphore(this.#circuit.width)
    this.done = this.#run().catch((error: unknown) =>
      share.ctx.log.error({ err: error, tenant: tenantId }, 'the deliveries of an endpoint were interrupted'),
    )
  }

  /** Begins no further try. */
  finish(): void {
    this.#isOver = true
  }

  /** Ends the tries that are under way too: they are made again, by this worker or another one. */
  abort(reason: string): void {
    this.#isOver = true
    this.#abort.abort(new Error(reason))
  }

  async #run(): Promise<void> {
    try {
      await this.#sendAll()
    } finally {
      await Promise.all(this.#sending.values())
      await this.#letGo()
    }
  }

  async #sendAll(): Promise<void> {
    const endsAtMs = performance.now() + maxRunMs
    while (!this.#isOver && performance.now() < endsAtMs) {
      const due = await listDue(this.#share.ctx.db, this.#tenantId, [...this.#sending.keys()], readAtOnce)
      if (due.length === 0 && this.#sending.size === 0) return
      if (due.length === 0) await Promise.race(this.#sending.values())
      for (const delivery of due) {
        await this.#lanes.acquire()
        if (this.#isOver) return
        const { sequence } = delivery.event
        const sent = this.#send(delivery).finally(() => {
          this.#sending.delete(sequence)
          this.#lanes.release()
        })
        this.#sending.set(sequence, sent)
      }
    }
  }

  async #send({ event, tries }: DueDelivery): Promise<void> {
    const { ctx, outcomes, slots } = this.#share
    const pool = this.#circuit.failures > 0 ? slots.suspect : slots.sound
    await pool.acquire()
    try {
      const attempt = await sendEvent(ctx, this.#endpoint, eventView(event), this.#abort.signal).finally(() => pool.release())
      this.#learn(attempt)
      const retryInMs = attempt.succeeded ? undefined : retryAfterMs(tries + 1)
      await outcomes.add({ tenantId: this.#tenantId, sequence: event.sequence, ...attempt, retryInMs })
    } catch (error) {
      if (this.#abort.signal.aborted) return
      // The database, most likely: what was sent is sent again, by whoever takes the endpoint next.
      this.#isOver = true
      ctx.log.error({ err: error, tenant: this.#tenantId }, 'what became of a delivery could not be written')
    }
  }

  #learn({ succeeded, responseStatus }: { succeeded: boolean; responseStatus: number | null }): void {
    this.#circuit.note(succeeded)
    this.#lanes.limit = this.#circuit.width
    if (responseStatus === 410) this.#isGone = true
    if (this.#isGone || this.#circuit.pauseMs() > 0) this.#isOver = true
  }

  async #letGo(): Promise<void> {
    const { ctx, owner } = this.#share
    const { failures } = this.#circuit
    if (failures > 0) await disableEndpoint(ctx, owner, this.#tenantId, this.#isGone ? 'gone' : 'failing')
    await releaseEndpoint(ctx.db, owner, this.#tenantId, { failures, pauseMs: this.#circuit.pauseMs() })
  }
}

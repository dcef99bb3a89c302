import { setTimeout as delay } from 'node:timers/promises'
import { Semaphore } from '@atrium/traffic/semaphore'
import type { Context } from '#features/context.ts'
import { LeasePoller } from '#db/lease-poller.ts'
import { newId } from '#crypto/random.ts'
import { ShardGuard } from '#features/distribution/shard-guard.ts'
import { eventChannel } from '#features/events/store.ts'
import { listSecrets } from '../store.ts'
import { keyOf, openSecret, refOf, type SealedSecret } from '../webhook.ts'
import { EndpointRun, type RunShare } from './endpoint-run.ts'
import { claimEndpoints, listHeld, renewLeases, type ClaimedEndpoint } from './lease-store.ts'
import { OutboxNumbering } from './outbox-numbering.ts'
import { OutcomeWriter } from './outcome-writer.ts'

const renewIntervalMs = 3_000
const maxEndpoints = 1_000
const concurrency = { healthy: 256, failing: 64 }
/** The time that attempts in progress have to finish when the worker stops. */
const finishTimeoutMs = 5_000
const releaseTimeoutMs = 1_500

/** Numbers events, and delivers them: claims endpoints that have a due delivery and no worker. */
export class WebhookRunner {
  readonly #ctx: Context
  readonly #share: RunShare
  readonly #work: LeasePoller<EndpointRun>
  readonly #numbering: OutboxNumbering

  constructor(ctx: Context, databaseUrl: string) {
    const owner = newId('request')
    this.#ctx = ctx
    this.#numbering = new OutboxNumbering(ctx, () => this.#work.poll())
    const guard = new ShardGuard(ctx.tenantShards, ctx.log)
    this.#share = {
      ctx,
      owner,
      guard,
      outcomes: new OutcomeWriter(ctx.db, owner, guard),
      permits: { healthy: new Semaphore(concurrency.healthy), failing: new Semaphore(concurrency.failing) },
    }
    this.#work = new LeasePoller({
      databaseUrl,
      log: ctx.log,
      what: 'events',
      channel: eventChannel,
      onMessage: (payload) => this.#numbering.note(payload),
      onGap: () => this.#numbering.forget(),
      renewIntervalMs,
      take: () => this.#take(),
      renew: (keys) => renewLeases(ctx.db, owner, keys.map(refOf)),
      // A tenant that sets its webhook again revokes the lease.
      listHeld: (keys) => listHeld(ctx.db, owner, keys.map(refOf)),
    })
  }

  start(): Promise<void> {
    return this.#work.start()
  }

  /** Lets the attempts in progress finish, and releases the endpoints so that another worker continues at once. */
  async stop(): Promise<void> {
    const closed = this.#work.close()
    for (const run of this.#work.runs.values()) run.finish()
    const ended = closed.then(() => Promise.all([this.#work.ended(), this.#numbering.finish()]))
    await Promise.race([ended, delay(finishTimeoutMs, undefined, { ref: false })])
    this.#work.abortAll('the worker stops')
    // An unresponsive database must not delay the stop: the leases run out by themselves.
    await Promise.race([ended, delay(releaseTimeoutMs, undefined, { ref: false })])
  }

  async #take(): Promise<boolean> {
    const { db } = this.#ctx
    const mayBeMore = await this.#numbering.next()
    const free = maxEndpoints - this.#work.runs.size
    if (this.#work.stopped || free <= 0) return mayBeMore
    const { owner, guard } = this.#share
    const claimed = await claimEndpoints(db, owner, { limit: free, except: [...this.#work.runs.keys()].map(refOf), guard })
    if (claimed.length === 0) return mayBeMore
    const secrets = await listSecrets(db, claimed)
    for (const endpoint of claimed) this.#begin(endpoint, secrets.get(keyOf(endpoint)) ?? [])
    return mayBeMore
  }

  #begin(endpoint: ClaimedEndpoint, sealed: SealedSecret[]): void {
    const key = keyOf(endpoint)
    try {
      const secrets = sealed.map((one) => openSecret(this.#ctx.vault, endpoint, one))
      const run = new EndpointRun(this.#share, endpoint, secrets)
      this.#work.add(key, run)
      if (this.#work.stopped) run.finish()
    } catch (error) {
      // The lease runs out, and then a worker tries again.
      this.#ctx.log.error({ err: error, endpoint: key }, 'cannot start the deliveries of an endpoint')
    }
  }
}

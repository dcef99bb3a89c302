import { setTimeout as delay } from 'node:timers/promises'
import { Semaphore } from '@atrium/traffic/semaphore'
import type { Context } from '#features/context.ts'
import { LeasedWork } from '#db/lease-poller.ts'
import { newId } from '#crypto/random.ts'
import { eventChannel, listWaitingTenants, numberFreeEvents } from '#features/events/store.ts'
import { listSecrets } from '../store.ts'
import { openSecret, type SealedSecret } from '../webhook-secret.ts'
import { EndpointRun, type RunShare } from './endpoint-run.ts'
import { claimEndpoints, listHeld, renewLeases, type ClaimedEndpoint } from './lease.ts'
import { openOutcomeWriter } from './outcomes.ts'

const renewEveryMs = 3_000
const tenantsAtOnce = 50
const eventsAtOnce = 500
const maxEndpoints = 1_000
const triesAtOnce = { sound: 256, suspect: 64 }
/** How long tries that are under way may take when the worker stops. */
const finishPatienceMs = 5_000
const releasePatienceMs = 1_500

/** Numbers events and delivers them: takes endpoints for which something is due and that no worker sends to. */
export class WebhookRunner {
  readonly #ctx: Context
  readonly #share: RunShare
  readonly #work: LeasedWork<EndpointRun>
  #afterTenantId = ''

  constructor(ctx: Context, databaseUrl: string) {
    const owner = newId('request')
    this.#ctx = ctx
    this.#share = {
      ctx,
      owner,
      outcomes: openOutcomeWriter(ctx.db, owner),
      slots: { sound: new Semaphore(triesAtOnce.sound), suspect: new Semaphore(triesAtOnce.suspect) },
    }
    this.#work = new LeasedWork({
      databaseUrl,
      log: ctx.log,
      what: 'events',
      channel: eventChannel,
      renewEveryMs,
      take: () => this.#take(),
      renew: (tenantIds) => renewLeases(ctx.db, owner, tenantIds),
      // An endpoint that its tenant has set anew is ours no longer.
      listHeld: (tenantIds) => listHeld(ctx.db, owner, tenantIds),
    })
  }

  start(): Promise<void> {
    return this.#work.start()
  }

  /** Lets what is under way end, and gives the endpoints up so that another worker goes on with them at once. */
  async stop(): Promise<void> {
    const closed = this.#work.close()
    for (const run of this.#work.runs.values()) run.finish()
    const ended = closed.then(() => this.#work.ended())
    await Promise.race([ended, delay(finishPatienceMs, undefined, { ref: false })])
    this.#work.abortAll('the worker stops')
    // A database that is silent must not hold up the end: the leases run out by themselves.
    await Promise.race([ended, delay(releasePatienceMs, undefined, { ref: false })])
  }

  async #take(): Promise<boolean> {
    const { db } = this.#ctx
    const mayBeMore = await this.#number()
    const free = maxEndpoints - this.#work.runs.size
    if (this.#work.stopped || free <= 0) return mayBeMore
    const claimed = await claimEndpoints(db, this.#share.owner, free)
    if (claimed.length === 0) return mayBeMore
    const secrets = await listSecrets(
      db,
      claimed.map(({ tenantId }) => tenantId),
    )
    for (const endpoint of claimed) this.#begin(endpoint, secrets.get(endpoint.tenantId) ?? [])
    return mayBeMore
  }

  /** Numbers some of what is in the outbox, of other tenants each time; says whether there may be more. */
  async #number(): Promise<boolean> {
    const { db } = this.#ctx
    const after = this.#afterTenantId
    const tenantIds = await listWaitingTenants(db, after, tenantsAtOnce)
    const isFull = tenantIds.length === tenantsAtOnce
    this.#afterTenantId = isFull ? tenantIds.at(-1)! : ''
    const numbered = tenantIds.length > 0 ? await numberFreeEvents(db, tenantIds, eventsAtOnce) : 0
    return isFull || after !== '' || numbered >= eventsAtOnce
  }

  #begin(endpoint: ClaimedEndpoint, sealed: SealedSecret[]): void {
    const { tenantId } = endpoint
    const before = this.#work.runs.get(tenantId)
    if (before) {
      // It has given the endpoint up, and is just about to end.
      void before.done.then(() => this.#begin(endpoint, sealed))
      return
    }
    try {
      const secrets = sealed.map((one) => openSecret(this.#ctx.vault, tenantId, one))
      const run = new EndpointRun(this.#share, endpoint, secrets)
      this.#work.add(tenantId, run)
      if (this.#work.stopped) run.finish()
    } catch (error) {
      // Its lease runs out, and then it is tried again.
      this.#ctx.log.error({ err: error, tenant: tenantId }, 'an endpoint cannot be sent to')
    }
  }
}

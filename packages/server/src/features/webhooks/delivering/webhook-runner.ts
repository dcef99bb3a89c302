import { setTimeout as delay } from 'node:timers/promises'
import { Listener } from '@atrium/traffic/listener'
import type { Context } from '../../../context.ts'
import { newId } from '../../../random.ts'
import { eventChannel, listWaitingTenants, numberEvents } from '../../events/store.ts'
import { listSecrets } from '../store.ts'
import { openSecret, type SealedSecret } from '../webhook-secret.ts'
import { EndpointRun, type RunShare } from './endpoint-run.ts'
import { claimEndpoints, listHeld, renewLeases, type ClaimedEndpoint } from './lease.ts'
import { openOutcomeWriter } from './outcomes.ts'
import { Slots } from './slots.ts'

const lookEveryMs = 1_000
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
  readonly #runs = new Map<string, EndpointRun>()
  readonly #listener: Listener
  readonly #timers: NodeJS.Timeout[] = []
  #afterTenantId = ''
  #looking: Promise<void> | undefined
  #lookAgain = false
  #stopped = false

  constructor(ctx: Context, databaseUrl: string) {
    const owner = newId('request')
    this.#ctx = ctx
    this.#share = {
      ctx,
      owner,
      outcomes: openOutcomeWriter(ctx.db, owner),
      slots: { sound: new Slots(triesAtOnce.sound), suspect: new Slots(triesAtOnce.suspect) },
    }
    this.#listener = new Listener({
      url: databaseUrl,
      channel: eventChannel,
      onMessage: () => this.#look(),
      onGap: () => this.#look(),
      onError: (error) => ctx.log.error({ err: error }, 'event notifications lost; reconnecting'),
    })
  }

  async start(): Promise<void> {
    await this.#listener.start()
    // Notifications make it quick; looking by the clock makes it sure, and finds what falls due.
    this.#timers.push(setInterval(() => this.#look(), lookEveryMs))
    this.#timers.push(setInterval(() => void this.#renew(), renewEveryMs))
    this.#look()
  }

  /** Lets what is under way end, and gives the endpoints up so that another worker goes on with them at once. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#listener.close()
    for (const run of this.#runs.values()) run.finish()
    const allDone = this.#allDone()
    await Promise.race([allDone, delay(finishPatienceMs, undefined, { ref: false })])
    for (const run of this.#runs.values()) run.abort('the worker stops')
    // A database that is silent must not hold up the end: the leases run out by themselves.
    await Promise.race([allDone, delay(releasePatienceMs, undefined, { ref: false })])
  }

  async #allDone(): Promise<void> {
    await this.#looking
    await Promise.all([...this.#runs.values()].map(({ done }) => done))
  }

  #look(): void {
    if (this.#stopped) return
    if (this.#looking) {
      this.#lookAgain = true
      return
    }
    this.#lookAgain = false
    this.#looking = this.#lookOnce()
      .catch((error: unknown) => this.#ctx.log.error({ err: error }, 'events not looked after'))
      .finally(() => {
        this.#looking = undefined
        if (this.#lookAgain) this.#look()
      })
  }

  async #lookOnce(): Promise<void> {
    const { db } = this.#ctx
    const { owner } = this.#share
    await this.#letGo((tenantIds) => listHeld(db, owner, tenantIds))
    if (await this.#number()) this.#lookAgain = true
    const free = maxEndpoints - this.#runs.size
    if (this.#stopped || free <= 0) return
    const claimed = await claimEndpoints(db, owner, free)
    if (claimed.length === 0) return
    const secrets = await listSecrets(
      db,
      claimed.map(({ tenantId }) => tenantId),
    )
    for (const endpoint of claimed) this.#begin(endpoint, secrets.get(endpoint.tenantId) ?? [])
  }

  /** Numbers some of what is in the outbox, of other tenants each time; says whether there may be more. */
  async #number(): Promise<boolean> {
    const { db } = this.#ctx
    const after = this.#afterTenantId
    const tenantIds = await listWaitingTenants(db, after, tenantsAtOnce)
    const isFull = tenantIds.length === tenantsAtOnce
    this.#afterTenantId = isFull ? tenantIds.at(-1)! : ''
    const numbered = tenantIds.length > 0 ? await numberEvents(db, tenantIds, eventsAtOnce) : 0
    return isFull || after !== '' || numbered >= eventsAtOnce
  }

  #begin(endpoint: ClaimedEndpoint, sealed: SealedSecret[]): void {
    const { tenantId } = endpoint
    const before = this.#runs.get(tenantId)
    if (before) {
      // It has given the endpoint up, and is just about to end.
      void before.done.then(() => this.#begin(endpoint, sealed))
      return
    }
    try {
      const secrets = sealed.map((one) => openSecret(this.#ctx.vault, tenantId, one))
      const run = new EndpointRun(this.#share, endpoint, secrets)
      this.#runs.set(tenantId, run)
      void run.done.then(() => this.#runs.delete(tenantId))
      if (this.#stopped) run.finish()
    } catch (error) {
      // Its lease runs out, and then it is tried again.
      this.#ctx.log.error({ err: error, tenant: tenantId }, 'an endpoint cannot be sent to')
    }
  }

  async #renew(): Promise<void> {
    try {
      await this.#letGo((tenantIds) => renewLeases(this.#ctx.db, this.#share.owner, tenantIds))
    } catch (error) {
      this.#ctx.log.error({ err: error }, 'leases of endpoints not renewed')
    }
  }

  /** Ends what another worker has by now, or what its tenant has set anew. */
  async #letGo(ask: (tenantIds: string[]) => Promise<Set<string>>): Promise<void> {
    // Only those that were asked about: others may have begun meanwhile.
    const runs = [...this.#runs]
    if (runs.length === 0) return
    const held = await ask(runs.map(([tenantId]) => tenantId))
    for (const [tenantId, run] of runs) if (!held.has(tenantId)) run.abort('the endpoint is no longer ours')
  }
}

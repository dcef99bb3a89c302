import { agreedEnd, isPastEnd } from '@atrium/room-client/is-past-end'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { ApiFailure, type CatalogAgent, type PlatformApi } from '../api/platform-api.ts'
import { announce } from '../components/announcer.tsx'
import { Naps } from '../room/backoff.ts'
import { Store } from '../store.ts'
import type { AgentDoor } from './agent-door.ts'
import { type InvitedAgent, isHere, justInvited } from './invited-agent.ts'
import { launchWords } from './launch-words.ts'
import { isUncertain, Launcher } from './launcher.ts'
import { t } from '../text/text.ts'

const COMING_MS = 1_000
const HERE_MS = 20_000
/** The device of an agent whose session has ended should not stay long. */
const LEAVING_MS = 5_000
const NOBODY_MS = 3_600_000
/** How long the platform keeps what it has prepared, by its contract. */
const PREPARED_MINUTES = 15

/**
 * The agents that were invited into a room from here: their states, and how to send them away. In a room with a list of
 * devices, this lets them in and removes them again.
 */
export class InvitedAgents {
  readonly state = new Store<{ agents: readonly InvitedAgent[] }>({ agents: [] })
  readonly api: PlatformApi
  readonly #door: AgentDoor
  readonly #launcher: Launcher
  readonly #naps = new Naps()
  readonly #stopper = new AbortController()

  constructor(api: PlatformApi, door: AgentDoor) {
    this.api = api
    this.#door = door
    this.#launcher = new Launcher(api, door)
    const { signal } = this.#stopper
    document.addEventListener('visibilitychange', () => document.hidden || this.#naps.wake(), { signal })
    void this.#begin()
  }

  /** Only agents with a key of their own can join. */
  get isSealed(): boolean {
    return this.#door.owner !== undefined
  }

  /** The operator of the agent would read along, so the owner has to agree first. */
  needsConsent({ hosting }: Pick<CatalogAgent, 'hosting'>): boolean {
    return this.isSealed && hosting === 'hosted'
  }

  stop(): void {
    this.#stopper.abort()
    this.#naps.wake()
  }

  /** Resolves to whether the agent is joining or already in the room. Rejects as Launcher does. */
  async invite(
    agent: Pick<CatalogAgent, 'id' | 'name' | 'price_credits' | 'max_minutes' | 'encryption_key' | 'hosting'>,
    coupon: string,
  ): Promise<'coming' | 'present'> {
    const { name } = agent
    if (this.needsConsent(agent)) return this.#inviteHosted(agent, coupon)
    const launched = await this.#launcher.launch(agent, coupon)
    if ('already_present' in launched) return 'present'
    const { id, control_token: controlToken, invitedAs } = launched
    const expiresAt = agreedEnd(launched.expires_at, agent.max_minutes)
    this.#update([...this.state.value.agents, justInvited({ id, name, controlToken, expiresAt, invitedAs })])
    announce(t.agents.sayComing(name))
    this.#naps.wake()
    return 'coming'
  }

  /** The owner has agreed. A launch whose outcome is unknown is repeated, and launches once. */
  async #inviteHosted(
    agent: Pick<CatalogAgent, 'id' | 'name' | 'price_credits' | 'max_minutes'>,
    coupon: string,
  ): Promise<'coming' | 'present'> {
    const { owner } = this.#door
    if (!owner) throw new Error('only the owner of a list lets in an agent')
    let entry = this.state.value.agents.find(({ prepared }) => prepared?.agent === agent.id)
    if (!entry) {
      const { id, card, summon_key: summonKey, expires_at } = await this.#launcher.prepare(agent, coupon, owner.room)
      const expiresAt = agreedEnd(expires_at, PREPARED_MINUTES)
      const { max_minutes: maxMinutes, price_credits: priceCredits } = agent
      const prepared = { agent: agent.id, card, summonKey, maxMinutes, priceCredits }
      entry = justInvited({ id, name: agent.name, controlToken: '', expiresAt, prepared, device: await owner.deviceOf(card) })
      this.state.update({ agents: [...this.state.value.agents, entry] })
      // Before the consent: after a crash, the next page goes on.
      await this.#door.keep(this.state.value.agents)
    }
    try {
      await this.#launchPrepared(entry)
    } catch (error) {
      this.#naps.wake()
      if (isPresent(error)) return 'present'
      if (!mayStillCome(error)) throw error
    }
    announce(t.agents.sayComing(agent.name))
    this.#naps.wake()
    return 'coming'
  }

  /** Consents, and launches. If either is refused, nothing is tried again, and the device leaves the list if it was on it. */
  async #launchPrepared({ id, prepared, expiresAt, device = '' }: InvitedAgent): Promise<void> {
    const { owner } = this.#door
    if (!prepared || !owner) return
    const over = { prepared: undefined, status: 'failed' } as const
    // A page that was closed in the middle. The launch may have been accepted, but nobody knows how to stop it.
    if (Date.parse(expiresAt) < Date.now()) return this.#change(id, over)
    try {
      // The owner has removed it meanwhile under People.
      if (!(await owner.host({ ...prepared, device }))) return this.#change(id, over)
      const { id: sessionId, control_token: controlToken, expires_at } = await this.#launcher.summon(id, prepared.summonKey)
      this.#change(id, { sessionId, controlToken, expiresAt: agreedEnd(expires_at, prepared.maxMinutes), prepared: undefined })
    } catch (error) {
      if (!mayStillCome(error)) this.#change(id, over)
      throw error
    }
  }

  /** Telling an agent twice does nothing more. */
  async sendAway(agent: InvitedAgent): Promise<void> {
    if (agent.prepared) return
    this.#change(agent.id, { leaving: true, unreached: false })
    try {
      await this.api.stopSession(agent.sessionId ?? agent.id, agent.controlToken)
      await this.#look(agent)
    } catch {
      this.#change(agent.id, { leaving: false, unreached: true })
      announce(t.agents.sayUnreached(agent.name))
    }
  }

  forget(id: string): void {
    this.#update(this.state.value.agents.filter((agent) => agent.id !== id))
  }

  async #begin(): Promise<void> {
    const kept = await this.#door.read()
    const { agents } = this.state.value
    this.state.update({ agents: [...kept.filter(({ id }) => agents.every((one) => one.id !== id)), ...agents] })
    await this.#follow()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopper
    while (!signal.aborted) {
      const followed = this.state.value.agents.filter((agent) => isHere(agent) || agent.isOnList)
      // The status is read when a hidden page becomes visible again, unless agents need this page to come and go.
      const isIdle = document.hidden && !this.isSealed
      if (!isIdle) await Promise.all(followed.map((agent) => this.#accompany(agent)))
      if (signal.aborted) return
      await this.#naps.nap(isIdle ? NOBODY_MS : this.#pauseMs(), signal)
    }
  }

  #pauseMs(): number {
    const { agents } = this.state.value
    if (agents.some(({ status }) => status === 'launching' || status === 'stopping')) return COMING_MS
    if (agents.some((agent) => !isHere(agent) && agent.isOnList)) return LEAVING_MS
    return agents.some(isHere) ? HERE_MS : NOBODY_MS
  }

  async #accompany(agent: InvitedAgent): Promise<void> {
    if (agent.prepared) return this.#launchPrepared(agent).catch((error: unknown) => this.#explain(agent, error))
    if (isHere(agent)) await this.#look(agent)
    const { owner } = this.#door
    let now = this.state.value.agents.find(({ id }) => id === agent.id)
    if (!owner || !now?.isOnList) return
    if (isHere(now) && isPastEnd(now.expiresAt)) {
      this.#change(now.id, { status: 'expired' })
      announce(t.agents.sayLeft(now.name))
      now = { ...now, status: 'expired' }
    }
    try {
      if (now.status === 'launching' && now.invitedAs !== undefined) await owner.letIn(now.invitedAs)
      if (isHere(now)) return
      await owner.remove(now)
      this.#change(now.id, { isOnList: false })
    } catch {
      // Tried again. The visit is kept until the device is off the list.
    }
  }

  /** The form of the launch is not there any more. */
  #explain({ id, name, prepared }: InvitedAgent, error: unknown): void {
    if (mayStillCome(error)) return
    const { title, text } = launchWords(error, prepared?.priceCredits ?? 0)
    const reason = isPresent(error) ? t.agents.alreadyHere(name) : t.titled(title, text)
    this.#change(id, { reason })
    announce(reason)
  }

  async #look({ id, sessionId = id, name, controlToken }: InvitedAgent): Promise<void> {
    try {
      const found = await this.api.getSession(sessionId, controlToken)
      const { status, joined_at, charged_credits: chargedCredits } = found
      const before = this.state.value.agents.find((agent) => agent.id === id)
      this.#change(id, { status, hasJoined: joined_at !== null, chargedCredits })
      if (before?.status === status) return
      if (status === 'running') announce(t.agents.sayHere(name))
      if (!isHere(found)) announce(t.agents.sayLeft(name))
    } catch (error) {
      // The session or its token no longer exists.
      if (!(error instanceof ApiFailure) || (error.status !== 401 && error.status !== 404)) return
      if (this.isSealed) this.#change(id, { status: 'stopped', hasJoined: true })
      else this.forget(id)
    }
  }

  #change(id: string, patch: Partial<InvitedAgent>): void {
    this.#update(this.state.value.agents.map((agent) => (agent.id === id ? { ...agent, ...patch } : agent)))
  }

  #update(agents: readonly InvitedAgent[]): void {
    this.state.update({ agents })
    void this.#door.keep(agents)
  }
}

/** Whether the agent is in the room already. */
function isPresent(error: unknown): boolean {
  return error instanceof ApiFailure && error.code === 'state_conflict' && error.reason === ''
}

/** Whether the consent or the launch may have succeeded despite the error, or may succeed if repeated. */
function mayStillCome(error: unknown): boolean {
  // Other devices may change the list as often as this one tries to.
  return isUncertain(error) || (error instanceof SpaceCallError && (error.isPassing || error.reason === 'list_changed'))
}

import type { RoomSecret } from '@atrium/sealing/room-secret'
import { ApiFailure, type CatalogAgent, type PlatformApi } from '../api/platform-api.ts'
import { announce } from '../parts/announcer.tsx'
import { Naps } from '../room/backoff.ts'
import { Store } from '../store.ts'
import { type InvitedAgent, isHere, justInvited, keepInvited, readInvited } from './invited-agent.ts'
import { Launcher } from './launcher.ts'
import { t } from '../text/text.ts'

const COMING_MS = 1_000
const HERE_MS = 20_000
const NOBODY_MS = 3_600_000

/** The agents that this tab invited into a room: their states, and how to send them away. */
export class InvitedAgents {
  readonly state: Store<{ agents: readonly InvitedAgent[] }>
  readonly api: PlatformApi
  readonly #room: string
  readonly #launcher: Launcher
  readonly #naps = new Naps()
  readonly #stopper = new AbortController()

  constructor(api: PlatformApi, secret: RoomSecret) {
    this.api = api
    this.#room = secret.room
    this.#launcher = new Launcher(api, secret)
    this.state = new Store({ agents: readInvited(secret.room) })
    const { signal } = this.#stopper
    document.addEventListener('visibilitychange', () => document.hidden || this.#naps.wake(), { signal })
    void this.#follow()
  }

  stop(): void {
    this.#stopper.abort()
    this.#naps.wake()
  }

  /** Resolves to whether the agent is joining or already in the room. Rejects as Launcher does. */
  async invite(
    { id: agentId, name, price_credits: priceCredits }: Pick<CatalogAgent, 'id' | 'name' | 'price_credits'>,
    coupon: string,
  ): Promise<'coming' | 'present'> {
    const launched = await this.#launcher.launch(agentId, priceCredits, coupon)
    if ('already_present' in launched) return 'present'
    const { id, control_token: controlToken, expires_at: expiresAt } = launched
    this.#update([...this.state.value.agents, justInvited({ id, name, controlToken, expiresAt })])
    announce(t.agents.sayComing(name))
    this.#naps.wake()
    return 'coming'
  }

  /** Telling an agent twice does nothing more. */
  async sendAway(agent: InvitedAgent): Promise<void> {
    this.#change(agent.id, { leaving: true, unreached: false })
    try {
      await this.api.stopSession(agent.id, agent.controlToken)
      await this.#look(agent)
    } catch {
      this.#change(agent.id, { leaving: false, unreached: true })
      announce(t.agents.sayUnreached(agent.name))
    }
  }

  forget(id: string): void {
    this.#update(this.state.value.agents.filter((agent) => agent.id !== id))
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopper
    while (!signal.aborted) {
      const here = this.state.value.agents.filter(isHere)
      // The page is hidden. The status is read when it becomes visible again.
      if (!document.hidden) await Promise.all(here.map((agent) => this.#look(agent)))
      if (signal.aborted) return
      const isComing = this.state.value.agents.some(({ status }) => status === 'launching' || status === 'stopping')
      const ms = isComing ? COMING_MS : here.length > 0 ? HERE_MS : NOBODY_MS
      await this.#naps.nap(document.hidden ? NOBODY_MS : ms, signal)
    }
  }

  async #look({ id, name, controlToken }: InvitedAgent): Promise<void> {
    try {
      const found = await this.api.getSession(id, controlToken)
      const { status, joined_at, expires_at: expiresAt, charged_credits: chargedCredits } = found
      const before = this.state.value.agents.find((agent) => agent.id === id)
      this.#change(id, { status, hasJoined: joined_at !== null, expiresAt, chargedCredits })
      if (before?.status === status) return
      if (status === 'running') announce(t.agents.sayHere(name))
      if (!isHere(found)) announce(t.agents.sayLeft(name))
    } catch (error) {
      // The session or its token no longer exists.
      if (error instanceof ApiFailure && (error.status === 401 || error.status === 404)) this.forget(id)
    }
  }

  #change(id: string, patch: Partial<InvitedAgent>): void {
    this.#update(this.state.value.agents.map((agent) => (agent.id === id ? { ...agent, ...patch } : agent)))
  }

  #update(agents: readonly InvitedAgent[]): void {
    this.state.update({ agents })
    keepInvited(this.#room, agents)
  }
}

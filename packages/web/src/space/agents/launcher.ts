import { wait } from '@atrium/room-client/retry'
import {
  type AlreadyPresent,
  ApiFailure,
  type CatalogAgent,
  type LaunchedSession,
  type PlatformApi,
  type PreparedLaunch,
  Unreachable,
} from '../api/platform-api.ts'
import { backoffMs } from '../room/backoff.ts'
import { randomId } from '@atrium/room-client/new-room-secret'
import type { AgentDoor, Entrance } from './agent-door.ts'

interface Press {
  readonly agentId: string
  readonly coupon: string
  readonly priceCredits: number
  readonly idempotencyKey: string
  readonly entrance: Entrance
}

export type Launched = (LaunchedSession | AlreadyPresent) & Pick<Entrance, 'invitedAs'>

const TRIES = 4

/** Launches agents into a room. */
export class Launcher {
  readonly #api: PlatformApi
  readonly #door: AgentDoor
  /** A launch with an unknown outcome. Another press must neither launch nor pay a second time. */
  #unsettled: Press | undefined

  constructor(api: PlatformApi, door: AgentDoor) {
    this.#api = api
    this.#door = door
  }

  /**
   * One press of the button, at the price that it showed. The request is repeated while there is no answer. Rejects
   * with ApiFailure or Unreachable, and with the errors of the door.
   */
  async launch(agent: Pick<CatalogAgent, 'id' | 'encryption_key' | 'price_credits'>, coupon: string): Promise<Launched> {
    const { id: agentId, price_credits: priceCredits } = agent
    const before = this.#unsettled
    const isSame = before?.agentId === agentId && before.coupon === coupon && before.priceCredits === priceCredits
    const press = isSame
      ? before
      : { agentId, coupon, priceCredits, idempotencyKey: randomId(), entrance: await this.#door.open(agent) }
    this.#unsettled = press
    try {
      const answer = await this.#insist(press)
      this.#unsettled = undefined
      if ('already_present' in answer) await this.#close(press)
      return { ...answer, ...(press.entrance.invitedAs !== undefined && { invitedAs: press.entrance.invitedAs }) }
    } catch (error) {
      if (!isUncertain(error)) {
        this.#unsettled = undefined
        await this.#close(press)
      }
      throw error
    }
  }

  /** Prepares the launch of a hosted agent into a client-sealed room. Charges nothing. Rejects like `launch`. */
  prepare(agent: Pick<CatalogAgent, 'id' | 'price_credits'>, coupon: string, room: string): Promise<PreparedLaunch> {
    const body = { agent_id: agent.id, room: { room }, coupon, max_price_credits: agent.price_credits }
    const idempotencyKey = randomId()
    return insist(() => this.#api.prepare(body, idempotencyKey))
  }

  /** Launches what was prepared, once. Rejects like `launch`. */
  summon(id: string, summonKey: string): Promise<LaunchedSession> {
    return insist(() => this.#api.summon(summonKey, `hosted ${id}`))
  }

  /** The outcome of the launch is what counts. An invitation that stays can be taken back by hand. */
  async #close({ entrance }: Press): Promise<void> {
    await this.#door.close(entrance).catch(() => undefined)
  }

  #insist({ agentId, coupon, priceCredits, idempotencyKey, entrance }: Press): Promise<LaunchedSession | AlreadyPresent> {
    const body = { agent_id: agentId, room: entrance.room, coupon, max_price_credits: priceCredits }
    return insist(() => this.#api.launch(body, idempotencyKey))
  }
}

/** Repeats a request while there is no answer. */
async function insist<T>(send: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await send()
    } catch (error) {
      if (!isUncertain(error) || failures === TRIES) throw error
      const askedMs = error instanceof ApiFailure ? error.retryAfterMs : undefined
      await wait(Math.max(askedMs ?? 0, backoffMs(failures)), undefined)
    }
  }
}

/** Whether the agent may have been launched anyway, or may be by repeating the request. */
export function isUncertain(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof ApiFailure && error.isPassing)
}

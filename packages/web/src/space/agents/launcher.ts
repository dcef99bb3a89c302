import { wait } from '@atrium/room-client/retry'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { type AlreadyPresent, ApiFailure, type LaunchedSession, type PlatformApi, Unreachable } from '../api/platform-api.ts'
import { backoffMs } from '../room/backoff.ts'
import { randomId } from '@atrium/room-client/new-room-secret'

interface Press {
  readonly agentId: string
  readonly coupon: string
  readonly priceCredits: number
  readonly idempotencyKey: string
}

const TRIES = 4

/** Launches agents into a room. */
export class Launcher {
  readonly #api: PlatformApi
  readonly #secret: RoomSecret
  /** A launch with an unknown outcome. Another press must neither launch nor pay a second time. */
  #unsettled: Press | undefined

  constructor(api: PlatformApi, secret: RoomSecret) {
    this.#api = api
    this.#secret = secret
  }

  /**
   * One press of the button, at the price that it showed. The request is repeated while there is no answer. Rejects
   * with ApiFailure or Unreachable.
   */
  async launch(agentId: string, priceCredits: number, coupon: string): Promise<LaunchedSession | AlreadyPresent> {
    const before = this.#unsettled
    const isSame = before?.agentId === agentId && before.coupon === coupon && before.priceCredits === priceCredits
    const press = isSame ? before : { agentId, coupon, priceCredits, idempotencyKey: randomId() }
    this.#unsettled = press
    try {
      const answer = await this.#insist(press)
      this.#unsettled = undefined
      return answer
    } catch (error) {
      if (!isUncertain(error)) this.#unsettled = undefined
      throw error
    }
  }

  async #insist({ agentId, coupon, priceCredits, idempotencyKey }: Press): Promise<LaunchedSession | AlreadyPresent> {
    const { room, mk } = this.#secret
    const body = { agent_id: agentId, room: { room, mk }, coupon, max_price_credits: priceCredits }
    for (let failures = 1; ; failures++) {
      try {
        return await this.#api.launch(body, idempotencyKey)
      } catch (error) {
        if (!isUncertain(error) || failures === TRIES) throw error
        const askedMs = error instanceof ApiFailure ? error.retryAfterMs : undefined
        await wait(Math.max(askedMs ?? 0, backoffMs(failures)), undefined)
      }
    }
  }
}

/** Whether the agent may have been launched anyway, or may be by repeating the request. */
export function isUncertain(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof ApiFailure && error.isPassing)
}

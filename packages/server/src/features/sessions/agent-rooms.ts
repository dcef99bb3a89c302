import { pastTheEnd } from '@atrium/room-client/follow-room'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { AgentIssuer } from '../agent-issuer/agent-issuer.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { AgentRoom } from './agent-room.ts'

interface Agent {
  id: string
  name: string
}

interface RoomAddress {
  room: string
  mk: string
}

/** The rooms of the Space service, as agents get into them. */
export class AgentRooms {
  readonly #spaceOrigin: string
  readonly #issuer: AgentIssuer

  constructor(spaceOrigin: string, issuer: AgentIssuer) {
    this.#spaceOrigin = spaceOrigin
    this.#issuer = issuer
  }

  /** `rateKey`: what the calls count by, such as `session:<id>`. */
  open(agent: Agent, address: RoomAddress, rateKey: string): AgentRoom {
    return new AgentRoom(this.#spaceOrigin, this.#issuer, agent, address, rateKey)
  }

  /**
   * Refuses a launch that could not get in; says how many lines the room has: what comes after them is said to the agent, also before it is
   * there. A room that does not exist yet is made by the first word said in it.
   */
  async assertEnters(agent: Agent, address: RoomAddress): Promise<number> {
    // There is no session yet: those who launch into other rooms are not held up by one that is busy.
    const room = this.open(agent, address, `room:${address.room}`)
    const count = () => room.poll({ ...pastTheEnd, limit: 1 }).then((page) => page.count)
    // A token that this clock made wrong is right the second time.
    const isClockWrong = (error: unknown) =>
      error instanceof SpaceCallError && error.reason.startsWith('token: ') && room.isPassing(error)
    try {
      return await count().catch((error: unknown) => (isClockWrong(error) ? count() : Promise.reject(error)))
    } catch (error) {
      if (!(error instanceof SpaceCallError)) throw unavailable(error)
      if (error.status === 404) return 0
      throw refusalOf(error, room.isPassing(error))
    }
  }
}

function refusalOf(error: SpaceCallError, isPassing: boolean): ApiError {
  const { status, reason } = error
  if (status === 403 && !isPassing)
    return new ApiError('not_authorized', { message: `The room does not let this agent in: ${reason}.`, reason })
  if (status === 400) return invalid('/room', reason)
  return unavailable(error)
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('unavailable', { message: 'The Space service cannot be reached.', retryAfterSeconds: 2, cause })
}

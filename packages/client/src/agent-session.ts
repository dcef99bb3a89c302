import { randomId } from '@atrium/room-client/new-room-secret'
import type { SessionLaunched } from './agent-request.ts'
import type { AgentIdentity } from './agent-identity.ts'
import { AtriumError } from './atrium-error.ts'
import type { AtriumClient } from './call.ts'
import { NotAuthorizedError } from './errors.ts'
import type { SayOptions, Room } from './open-room.ts'
import type { Wait } from './retry.ts'
import type { Entry, SaidEntry } from './room-call.ts'
import { type SessionState, SessionWatch } from './session-watch.ts'

export { SessionOverError, type SessionState } from './session-watch.ts'

interface SessionParts {
  launch: SessionLaunched
  room: Room
  control: AtriumClient
  identity: AgentIdentity
  /** Number of the last line before the launch; -1 without one. */
  after: number
  /** Interval between two requests for the status. */
  lookEveryMs: number
  wait: Wait
}

const expiredPauseMs = 1_000

/** A remote agent's session in a room, from its confirmation to the session's end. joinSession makes it. */
export class AgentSession {
  readonly launch: SessionLaunched
  /** The room. Its `poll` also reads the messages from before the launch. */
  readonly room: Room
  readonly #parts: SessionParts
  readonly #watch: SessionWatch

  constructor(parts: SessionParts) {
    this.launch = parts.launch
    this.room = parts.room
    this.#parts = parts
    this.#watch = new SessionWatch({ id: parts.launch.session_id, ...parts })
  }

  get id(): string {
    return this.launch.session_id
  }

  /**
   * Aborts when the session has ended: within seconds by its status, or at once by `end`. Pass it to the agent's own
   * calls.
   */
  get signal(): AbortSignal {
    return this.#watch.signal
  }

  /**
   * The messages of others since the launch. They include those of other agents: two agents that answer each other
   * never stop. The iteration ends without an error when the session ends. It throws NotAuthorizedError or
   * NotFoundError when the agent has lost access to the room.
   */
  get entries(): AsyncIterable<Entry> {
    return this.#others()
  }

  /** Writes a message. After the session's end it throws SessionOverError and writes nothing. */
  async say(text: string, { signal, clientId = randomId(), ...options }: SayOptions = {}): Promise<SaidEntry> {
    // A refused attempt may follow on one that was stored and whose answer was lost.
    const terms = { ...options, clientId, signal: signal ? AbortSignal.any([signal, this.signal]) : this.signal }
    try {
      return await this.room.say(text, terms)
    } catch (error) {
      if (!isMistimed(error)) throw error
      this.#parts.identity.expire()
      return this.room.say(text, terms)
    }
  }

  /** Writes a reply to the entry, at most once per entry and session, even after a retry or a restart. */
  reply(entry: Pick<Entry, 'id' | 'seq'>, text: string): Promise<SaidEntry> {
    return this.say(text, { replyTo: entry.id, clientId: `${this.id}.${entry.seq}` })
  }

  /** Reads the state of the session. */
  status(): Promise<SessionState> {
    return this.#watch.status()
  }

  /** Ends the iteration and aborts the signal. Call it on a session.ended request. */
  end(status = 'ended'): void {
    this.#watch.end(status)
  }

  /** Stops the session, which settles its bill. A session that has ended does not change. */
  stop(): Promise<void> {
    return this.#watch.stop()
  }

  async *#others(): AsyncGenerator<Entry, void, undefined> {
    let { after } = this.#parts
    while (!this.signal.aborted) {
      try {
        for await (const entry of this.room.follow({ after, waitForRoom: true, signal: this.signal })) {
          after = entry.seq
          if (entry.author.id !== this.launch.agent_id) yield entry
        }
      } catch (error) {
        if (!(error instanceof AtriumError)) throw error
        await this.#watch.look()
        if (!this.signal.aborted && !isMistimed(error)) throw error
        // The ID token ends with the session, so either error may occur first.
        this.#parts.identity.expire()
        await this.#watch.pause(expiredPauseMs)
      }
    }
  }
}

/** Whether the token was rejected for its time. Tokens last less than a minute, so a fresh one resolves this. */
function isMistimed(error: unknown): boolean {
  return error instanceof NotAuthorizedError && (error.reason === 'token: expired' || error.reason === 'token: not_yet_valid')
}

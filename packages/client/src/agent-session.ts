import type { SessionStatus } from '@atrium/contract/sessions'
import type { Static } from 'typebox'
import type { SessionLaunched } from './agent-request.ts'
import type { AgentIdentity } from './agent-identity.ts'
import { AtriumError } from './atrium-error.ts'
import type { AtriumClient } from './call.ts'
import { NotAuthorizedError, NotFoundError, UnauthorizedError } from './errors.ts'
import type { SayOptions, Room } from './open-room.ts'
import type { Wait } from './retry.ts'
import type { Entry, SaidEntry } from './room-call.ts'

/** `{id, agent_id, room, status, price_credits, charged_credits, max_minutes, created_at, joined_at, stopped_at, expires_at, error?}`. */
export type SessionState = Static<typeof SessionStatus>

/** Why a session's signal aborted. */
export class SessionOverError extends Error {
  override readonly name = 'SessionOverError'

  constructor(status: string) {
    super(`The session is over: ${status}`)
  }
}

interface SessionParts {
  launch: SessionLaunched
  room: Room
  control: AtriumClient
  identity: AgentIdentity
  /** The newest line from before the launch; -1: none. */
  after: number
  /** How often the status is asked for. */
  lookEveryMs: number
  wait: Wait
}

const expiredPauseMs = 1_000

/** A remote agent's stay in a room, from its confirmation to the session's end. Made by joinSession. */
export class AgentSession {
  readonly launch: SessionLaunched
  /** The room itself: what was said before the launch, its `poll` reads. */
  readonly room: Room
  readonly #parts: SessionParts
  readonly #over = new AbortController()

  constructor(parts: SessionParts) {
    this.launch = parts.launch
    this.room = parts.room
    this.#parts = parts
    void this.#watch()
  }

  get id(): string {
    return this.launch.session_id
  }

  /** Aborts when the session has ended: within seconds by its status, or at once by `end`. Give it to what the agent is busy with. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /**
   * What others say, from the launch on, other agents included: who answers those answers without end. Ends quietly with the session. Throws
   * when the room does not let the agent in any more (NotAuthorizedError, NotFoundError).
   */
  get entries(): AsyncIterable<Entry> {
    return this.#others()
  }

  /** Says something. After the session's end it throws SessionOverError, and nothing is said. */
  async say(text: string, { signal, ...options }: SayOptions = {}): Promise<SaidEntry> {
    const terms = { ...options, signal: signal ? AbortSignal.any([signal, this.signal]) : this.signal }
    try {
      return await this.room.say(text, terms)
    } catch (error) {
      if (!isMistimed(error)) throw error
      this.#parts.identity.expire()
      return this.room.say(text, terms)
    }
  }

  /** Says it in reply to the entry, at most once an entry in this session, whatever is repeated or started again. */
  reply(entry: Pick<Entry, 'id' | 'seq'>, text: string): Promise<SaidEntry> {
    return this.say(text, { replyTo: entry.id, clientId: `${this.id}.${entry.seq}` })
  }

  /** How the session is going. */
  async status(): Promise<SessionState> {
    return (await this.#parts.control.getSession({ id: this.id })).data
  }

  /** For a session.ended request: there is nothing left to do. */
  end(status = 'ended'): void {
    this.#over.abort(new SessionOverError(status))
  }

  /** Ends the session, which settles its bill; what has ended stays as it is. */
  async stop(): Promise<void> {
    this.end('stopped')
    await this.#parts.control.stopSession({ id: this.id, repeatable: true })
  }

  async #watch(): Promise<void> {
    const { wait, lookEveryMs } = this.#parts
    while (!this.signal.aborted) {
      await wait(lookEveryMs, this.signal).catch(() => undefined)
      await this.#look()
    }
  }

  async #look(): Promise<void> {
    if (this.signal.aborted) return
    try {
      const { status } = await this.status()
      if (['stopped', 'failed', 'expired'].includes(status)) this.end(status)
    } catch (error) {
      // A token that opens nothing any more says the same. Anything else may pass.
      if (error instanceof UnauthorizedError || error instanceof NotFoundError) this.end()
    }
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
        await this.#look()
        if (!this.signal.aborted && !isMistimed(error)) throw error
        // It ends with the session: which of the two shows first is chance.
        this.#parts.identity.expire()
        await this.#parts.wait(expiredPauseMs, this.signal).catch(() => undefined)
      }
    }
  }
}

/** Tokens last less than a minute: one that was a little too old is refused, and a fresh one helps. */
function isMistimed(error: unknown): boolean {
  return error instanceof NotAuthorizedError && (error.reason === 'token: expired' || error.reason === 'token: not_yet_valid')
}

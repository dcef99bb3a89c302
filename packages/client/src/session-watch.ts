import type { SessionStatus } from '@atrium/contract/session-schemas'
import type { Static } from 'typebox'
import type { AtriumClient } from './call.ts'
import { NotFoundError, UnauthorizedError } from './errors.ts'
import type { Wait } from './retry.ts'

/**
 * `{id, agent_id, room, status, price_credits, charged_credits, max_minutes, created_at, joined_at, stopped_at,
 * expires_at, error?}`.
 */
export type SessionState = Static<typeof SessionStatus>

/** The reason with which a session's signal aborts. */
export class SessionOverError extends Error {
  override readonly name = 'SessionOverError'

  constructor(status: string) {
    super(`The session is over: ${status}`)
  }
}

export interface WatchParts {
  id: string
  control: AtriumClient
  /** Interval between two requests for the status. */
  lookEveryMs: number
  wait: Wait
}

/** How a session ended; undefined: it has not. */
export function endOf(status: SessionState['status']): string | undefined {
  return ['stopped', 'failed', 'expired'].includes(status) ? status : undefined
}

/** Asks for the status of a session until it has ended. */
export class SessionWatch {
  readonly id: string
  readonly #parts: WatchParts
  readonly #over = new AbortController()

  constructor(parts: WatchParts) {
    this.id = parts.id
    this.#parts = parts
    void this.#watch()
  }

  /** Aborts when the session has ended. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  async status(): Promise<SessionState> {
    return (await this.#parts.control.getSession({ id: this.id })).data
  }

  end(status = 'ended'): void {
    this.#over.abort(new SessionOverError(status))
  }

  async stop(): Promise<void> {
    this.end('stopped')
    await this.#parts.control.stopSession({ id: this.id, repeatable: true })
  }

  /** Asks now. */
  async look(): Promise<void> {
    if (this.signal.aborted) return
    try {
      const ended = endOf((await this.status()).status)
      if (ended !== undefined) this.end(ended)
    } catch (error) {
      // A rejected control token means that the session has ended. Any other error may be temporary.
      if (error instanceof UnauthorizedError || error instanceof NotFoundError) this.end()
    }
  }

  /** Waits, but not beyond the end of the session. */
  async pause(ms: number): Promise<void> {
    await this.#parts.wait(ms, this.signal).catch(() => undefined)
  }

  async #watch(): Promise<void> {
    while (!this.signal.aborted) {
      await this.pause(this.#parts.lookEveryMs)
      await this.look()
    }
  }
}

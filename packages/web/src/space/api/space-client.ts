import type { Static } from 'typebox'
import type {
  SpaceAttestAnswer,
  SpaceChanged,
  SpaceEntry,
  SpacePollAnswer,
  SpaceRequest,
  SpaceSealedAnswer,
  SpaceTurnAnswer,
} from '@atrium/contract/space-schemas'

export type Entry = Static<typeof SpaceEntry>
export type Author = Entry['author']
export type PollAnswer = Static<typeof SpacePollAnswer>
export type SealedAnswer = Static<typeof SpaceSealedAnswer>
export type AttestAnswer = Static<typeof SpaceAttestAnswer>
type Request = Static<typeof SpaceRequest>

interface Answers {
  poll: PollAnswer
  turn: Static<typeof SpaceTurnAnswer>
  sealed: SealedAnswer
  attest: AttestAnswer
  create: Static<typeof SpaceChanged>
  admit: Static<typeof SpaceChanged>
  expel: Static<typeof SpaceChanged>
  remove: Static<typeof SpaceChanged>
}

export type RequestOf<Op extends keyof Answers> = Extract<Request, { op: Op }>

/** The service said no, and why. */
export class SpaceFailure extends Error {
  override readonly name = 'SpaceFailure'
  readonly status: number
  readonly error: string
  readonly reason: string
  readonly retryAfterMs: number | undefined

  constructor(status: number, error: string, reason: string, retryAfterMs?: number) {
    super(`${status} ${error}: ${reason}`)
    this.status = status
    this.error = error
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }

  /** Whether the same may well succeed a little later. */
  get isPassing(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408
  }
}

/** No answer came: offline, the service is down, or it took too long. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** One request to the Space endpoint. Rejects with SpaceFailure or Unreachable, or with the signal's reason. */
export async function callSpace<Op extends keyof Answers>(
  request: RequestOf<Op> & { op: Op },
  { signal, timeoutMs = 20_000 }: CallOptions = {},
): Promise<Answers[Op]> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const res = await fetch('/space', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    if (res.ok) return (await res.json()) as Answers[Op]
    throw await failureOf(res)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof SpaceFailure) throw error
    throw new Unreachable('no answer', { cause: error })
  }
}

async function failureOf(res: Response): Promise<SpaceFailure> {
  const body = (await res.json().catch(() => ({}))) as { error?: unknown; reason?: unknown }
  const seconds = Number(res.headers.get('retry-after') ?? Number.NaN)
  return new SpaceFailure(
    res.status,
    typeof body.error === 'string' ? body.error : 'unknown',
    typeof body.reason === 'string' ? body.reason : '',
    Number.isFinite(seconds) ? seconds * 1000 : undefined,
  )
}

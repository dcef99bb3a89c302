import type { FoundFarewell } from '@atrium/room-client/line-reader'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import type { Since } from '@atrium/room-client/follow-room'
import type { ListedFacts } from '@atrium/room-client/listed-view'
import type { Entry } from '@atrium/room-client/space-ops'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import type { ListedSecret } from './listed-lines.ts'
import type { LineAnswer, LineRequest } from './line-worker.ts'
// oxlint-disable-next-line import/default -- Vite makes this module, of which worker-url.d.ts has the type.
import workerUrl from './line-worker.ts?worker&url'
import type { LinePage } from './sealed-lines.ts'

export interface Opened {
  readonly position: Since
  readonly entries: Entry[]
  /** That of the room, once it was read. */
  readonly farewell?: FoundFarewell | undefined
}

/** Opens the lines of a room in a worker, so that the page stays responsive meanwhile. */
export class LineOpener {
  readonly #worker: Worker
  readonly #waiting: { resolve: (opened: Opened) => void; reject: (error: unknown) => void }[] = []
  #isClosed = false
  #facts: ListedFacts | undefined

  constructor() {
    // A classic script: a page that was opened from a disk may start no module as a worker.
    this.#worker = new Worker(scriptUrl(), { name: 'lines' })
    this.#worker.addEventListener('message', ({ data }: MessageEvent<LineAnswer>) => this.#settle(data))
    this.#worker.addEventListener('error', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(endedError())
    })
  }

  /** Resolves to where reading continues, because of what this device has kept of the room. */
  open(secret: RoomSecret): Promise<Opened> {
    return this.#ask({ secret })
  }

  openListed(listed: ListedSecret): Promise<Opened> {
    return this.#ask({ listed })
  }

  /** Of a room with a list, up to the last line that was taken, also where a later one is wrong. */
  get facts(): ListedFacts | undefined {
    return this.#facts
  }

  /** Checks a page, and resolves to its messages. Rejects with TamperedRoomError. */
  take({ lines, count, etag }: LinePage): Promise<Opened> {
    return this.#ask({ page: { lines, count, etag } })
  }

  close(): void {
    this.#isClosed = true
    this.#worker.terminate()
    for (const { reject } of this.#waiting.splice(0)) reject(endedError())
  }

  #ask(request: LineRequest): Promise<Opened> {
    // A worker that has ended answers nothing.
    if (this.#isClosed) return Promise.reject(endedError())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(request, [])
    })
  }

  #settle(answer: LineAnswer): void {
    const next = this.#waiting.shift()
    if ('failure' in answer) return next?.reject(new Error(answer.failure))
    this.#facts = answer.facts
    if ('position' in answer) return next?.resolve(answer)
    const { problem, seq, entries } = answer
    next?.reject(new TamperedRoomError(problem, seq, { entries, isContinued: true }))
  }
}

/**
 * The worker has failed, the room was left, or another worker opens it anew, such as after the network was away. What waits
 * to be sent must not be refused for that.
 */
function endedError(): SpaceCallError {
  return new SpaceCallError({ status: 0, error: 'network_error', message: 'the worker has ended' })
}

/** The members of Trusted Types that are used here; TypeScript has none of them. */
interface TrustedTypes {
  createPolicy: (name: string, rules: { createScriptURL: () => string }) => { createScriptURL: (url: string) => string }
}

declare global {
  var trustedTypes: TrustedTypes | undefined
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined

/** The policy of the page accepts the address of a worker only from a policy for scripts. This one knows one address. */
function scriptUrl(): string {
  if (!globalThis.trustedTypes) return workerUrl
  policy ??= globalThis.trustedTypes.createPolicy('lines', { createScriptURL: () => workerUrl })
  return policy.createScriptURL(workerUrl)
}

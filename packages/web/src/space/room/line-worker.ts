import { TamperedRoomError, type TamperProblem } from '@atrium/room-client/tampered-room-error'
import type { Entry } from '@atrium/room-client/space-ops'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { ListedLines, type ListedSecret } from './listed-lines.ts'
import { type LinePage, type OpenLines, SealedLines } from './sealed-lines.ts'

/** What the page asks: first to open the room, then to take its pages. */
export type LineRequest = { readonly secret: RoomSecret } | { readonly listed: ListedSecret } | { readonly page: LinePage }

/** Each request has one answer, in the same order. */
export type LineAnswer =
  | (Omit<OpenLines, 'take'> & { readonly entries: Entry[] })
  | (Pick<OpenLines, 'facts'> & {
      readonly problem: TamperProblem
      readonly seq: number
      /** Before the line that is wrong. */
      readonly entries: readonly Entry[]
    })
  | { readonly failure: string }

let lines: OpenLines | undefined
let last: Promise<void> = Promise.resolve()

addEventListener('message', ({ data }: MessageEvent<LineRequest>) => {
  last = last.then(async () => {
    const answered = await answer(data)
    try {
      postMessage(answered)
    } catch (error) {
      // Otherwise the page would wait for this answer for ever.
      postMessage({ failure: String(error) } satisfies LineAnswer)
    }
  })
})

async function answer(request: LineRequest): Promise<LineAnswer> {
  try {
    if ('page' in request) {
      if (!lines) throw new Error('the room is not open')
      const start = performance.now()
      const entries = await lines.take(request.page)
      performance.measure('lines', { start })
      return { ...whatIsKnown(lines), entries, farewell: lines.farewell }
    }
    lines = await ('secret' in request ? SealedLines.open(request.secret) : ListedLines.open(request.listed))
    return { ...whatIsKnown(lines), entries: [] }
  } catch (error) {
    if (error instanceof TamperedRoomError) {
      const { problem, seq, entries } = error
      return { problem, seq, entries, ...(lines?.facts && { facts: lines.facts }) }
    }
    return { failure: String(error) }
  }
}

function whatIsKnown({ position, facts }: OpenLines): Pick<OpenLines, 'position' | 'facts'> {
  return facts ? { position, facts } : { position }
}

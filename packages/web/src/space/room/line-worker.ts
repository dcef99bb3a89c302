import { type FoundFarewell, TamperedRoomError, type TamperProblem } from '@atrium/room-client/line-reader'
import type { Since } from '@atrium/room-client/follow-room'
import type { Entry } from '@atrium/room-client/space-ops'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { type LinePage, SealedLines } from './sealed-lines.ts'

/** What the page asks: first to open the room, then to take its pages. */
export type LineRequest = { readonly secret: RoomSecret } | { readonly page: LinePage }

/** Each request has one answer, in the same order. */
export type LineAnswer =
  | { readonly position: Since; readonly entries: Entry[]; readonly farewell?: FoundFarewell | undefined }
  | { readonly problem: TamperProblem; readonly seq: number }
  | { readonly failure: string }

let lines: SealedLines | undefined
let last: Promise<void> = Promise.resolve()

addEventListener('message', ({ data }: MessageEvent<LineRequest>) => {
  last = last.then(async () => postMessage(await answer(data)))
})

async function answer(request: LineRequest): Promise<LineAnswer> {
  try {
    if ('secret' in request) {
      lines = await SealedLines.open(request.secret)
      return { position: lines.position, entries: [] }
    }
    if (!lines) throw new Error('the room is not open')
    const entries = await lines.take(request.page)
    return { position: lines.position, entries, farewell: lines.farewell }
  } catch (error) {
    if (error instanceof TamperedRoomError) return { problem: error.problem, seq: error.seq }
    return { failure: String(error) }
  }
}

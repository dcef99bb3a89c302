import type { TurnRecord } from '@atrium/sealing/records'
import { checkChain } from '@atrium/sealing/node-lines'
import { openRecord } from '../rooms/access.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { authorise } from './authorise.ts'
import { holdRead, type Page } from './hold-read.ts'
import { getOpenRoom, type OpenRoom } from './open-room.ts'
import type { PollRequest } from './request.ts'

const tokenMarginMs = 1_000

/** The room, and the device key that reads it, if one is presented. */
type ReadRoom = OpenRoom & { reader: string | undefined }

/** Reads new messages, or waits up to waitMs for them. */
export function poll(ctx: SpaceContext, request: PollRequest, caller: Caller) {
  return holdRead(ctx, request, caller, {
    open: async () => {
      const opened = await getOpenRoom(ctx, request)
      const { key, untilMs } = await authorise(ctx, request, opened.policy)
      // Answered before the token expires: a poll that was held longer would be refused instead of answered without
      // news.
      return { ...opened, reader: key, untilMs: untilMs === undefined ? undefined : untilMs - tokenMarginMs }
    },
    findBreak: checkChain,
    answer: (opened, page) => {
      const { policy, title } = opened.policy
      const { etag, count } = page
      return { etag, count, entries: entriesOf(opened, page), policy, ...(title === undefined ? {} : { title }) }
    },
  })
}

function entriesOf({ head, key, reader }: ReadRoom, { fromSeq, lines }: Page) {
  return lines.flatMap((line, i) => {
    const record = openRecord(head.room, fromSeq + i, line, key)
    return record.t === 'turn' ? [entryOf(fromSeq + i, record, reader)] : []
  })
}

/**
 * Only the author gets the client_id: another reader who knew it could pass for the author, or take the place of the
 * message.
 */
function entryOf(
  seq: number,
  { id, at, author, message: { client_id: clientId, ...message } }: TurnRecord,
  reader: string | undefined,
) {
  const own = clientId !== undefined && reader !== undefined && reader === author.key
  return { seq, id, at, author, message: own ? { ...message, client_id: clientId } : message }
}

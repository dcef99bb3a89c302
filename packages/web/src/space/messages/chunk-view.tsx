import { Component } from 'preact'
import type { Entry } from '@atrium/room-client/space-ops'
import { authorId, authorName } from '../components/authors.ts'
import { dayKey } from '../components/format-time.ts'
import type { Chunk } from '../room/chunks.ts'
import type { Retracted } from '../room/retraction.ts'
import type { RoomSession } from '../room/room-session.ts'
import { t, type Text } from '../text/text.ts'
import { MessageView } from './message-view.tsx'
import type { IsMine } from './use-mine.ts'

interface ChunkProps {
  chunk: Chunk
  /** Whether its messages are rendered, or only their estimated height. */
  isDrawn: boolean
  /** The message before the first one here. */
  before: Entry | undefined
  /** Which day is called today: see `dayKey`. */
  today: string
  readTo: number | undefined
  isMine: IsMine
  retracted: ReadonlyMap<string, Retracted>
  session: RoomSession
  onReply: (entry: Entry) => void
  onShow: (id: string) => void
}

const GROUP_MS = 5 * 60_000

const ALONE_PX = 38
const GROUPED_PX = 8
const LINE_PX = 25
const LINE_CHARACTERS = 85
const FOLDED_PX = 750

/**
 * A few dozen messages that the browser lays out and paints only near the screen (content-visibility). It renders
 * again only if one of them, the message before them, or the day has changed, so a new message costs one chunk and not the
 * whole room.
 */
export class ChunkView extends Component<ChunkProps> {
  /** What it was drawn with. */
  #text: Text | undefined

  override shouldComponentUpdate(next: ChunkProps): boolean {
    const { chunk, isDrawn, before, today, isMine, retracted } = this.props
    if (next.isDrawn !== isDrawn || next.today !== today) return true
    if (next.chunk !== chunk || next.before !== before || next.isMine !== isMine || this.#text !== t) return true
    return next.retracted !== retracted && chunk.entries.some(({ id }) => next.retracted.get(id) !== retracted.get(id))
  }

  override render({ chunk, isDrawn, before, readTo, isMine, retracted, session, onReply, onShow }: ChunkProps) {
    this.#text = t
    if (!isDrawn) return <div class="chunk" style={{ blockSize: `${estimatePx(chunk)}px` }} />
    return (
      <div class="chunk" style={{ containIntrinsicBlockSize: `auto ${estimatePx(chunk)}px` }}>
        {chunk.entries.map((entry, i) => {
          const previous = chunk.entries[i - 1] ?? before
          const isNewDay = !previous || dayKey(previous.at) !== dayKey(entry.at)
          const isFirstUnread = readTo !== undefined && previous !== undefined && previous.seq <= readTo && entry.seq > readTo
          return (
            <MessageView
              key={entry.id}
              entry={entry}
              isMine={isMine}
              retracted={retracted.get(entry.id)}
              isNewDay={isNewDay}
              isFirstUnread={isFirstUnread && !isMine(entry)}
              isGrouped={!isNewDay && isGrouped(previous, entry)}
              session={session}
              onReply={onReply}
              onShow={onShow}
            />
          )
        })}
      </div>
    )
  }
}

function isGrouped(previous: Entry, entry: Entry): boolean {
  const isSoon = Date.parse(entry.at) - Date.parse(previous.at) < GROUP_MS
  return isSoon && entry.message.reply_to === undefined && isSameName(previous, entry)
}

/** A guest may have taken another name. */
function isSameName(previous: Entry, entry: Entry): boolean {
  return authorId(previous.author) === authorId(entry.author) && authorName(previous.author) === authorName(entry.author)
}

/** The estimated height until the browser has laid it out, which keeps the scroll bar from jumping. */
function estimatePx({ entries }: Chunk): number {
  return entries.reduce((sum, { author, message: { text } }, i) => {
    const previous = entries[i - 1]
    const head = previous && authorId(previous.author) === authorId(author) ? GROUPED_PX : ALONE_PX
    return sum + head + Math.min(Math.ceil(text.length / LINE_CHARACTERS) * LINE_PX, FOLDED_PX)
  }, 0)
}

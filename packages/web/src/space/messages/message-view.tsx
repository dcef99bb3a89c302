import type { Entry } from '@atrium/room-client/space-ops'
import { AgentMark } from '../parts/agent-mark.tsx'
import { authorName, authorNote, spokenName } from '../parts/authors.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Icon } from '../parts/icon.tsx'
import { clockTime, dayName, wholeMoment } from '../parts/moments.ts'
import type { RoomSession } from '../room/room-session.ts'
import { MessageText } from './message-text.tsx'
import { Quote } from './quote.tsx'
import type { IsMine } from './use-mine.ts'
import { t } from '../text/text.ts'

interface MessageProps {
  entry: Entry
  isMine: IsMine
  isNewDay: boolean
  isFirstUnread: boolean
  /** Follows another one by the same author closely: its name is not shown again. */
  isGrouped: boolean
  session: RoomSession
  onReply: (entry: Entry) => void
  onShow: (id: string) => void
}

export function MessageView({
  entry,
  isMine: isMineOf,
  isNewDay,
  isFirstUnread,
  isGrouped,
  session,
  onReply,
  onShow,
}: MessageProps) {
  const { id, at, author, message } = entry
  const isMine = isMineOf(entry)
  const name = authorName(author)
  const note = isMine ? author.email : authorNote(author)
  const classes = ['message', isMine && 'mine', isGrouped && !isFirstUnread && 'grouped'].filter(Boolean).join(' ')
  return (
    <article
      class={classes}
      id={`m-${id}`}
      tabIndex={-1}
      aria-label={t.messages.label(isMine ? t.authors.you : spokenName(author), clockTime(at))}
    >
      {isNewDay && <p class="day">{dayName(at)}</p>}
      {isFirstUnread && <p class="unread">{t.messages.newSince}</p>}
      <div class="message-body">
        <Avatar author={author} />
        <div class="message-main">
          <p class="byline">
            <bdi class="name">{isMine ? t.authors.you : name}</bdi>
            {author.kind === 'agent' && <AgentMark />}
            {note !== undefined && <bdi class="as">{note}</bdi>}
            <time dateTime={at} title={wholeMoment(at)}>
              {clockTime(at)}
            </time>
          </p>
          {message.reply_to !== undefined && <Quote id={message.reply_to} isMine={isMineOf} session={session} onShow={onShow} />}
          <MessageText text={message.text} isMarkdown={author.kind === 'agent'} />
        </div>
        <button
          class="icon-button reply"
          type="button"
          tabIndex={-1}
          aria-label={t.messages.replyTo(name)}
          onClick={() => onReply(entry)}
        >
          <Icon name="reply" />
        </button>
      </div>
    </article>
  )
}

import type { Entry } from '@atrium/room-client/space-ops'
import { accountStore } from '../identity/account.ts'
import { AgentMark } from '../components/agent-mark.tsx'
import { authorName, authorNote, spokenName } from '../components/authors.ts'
import { Avatar } from '../components/avatar.tsx'
import { memberName, memberNote } from '../components/members.ts'
import { clockTime, dayName, wholeMoment } from '../components/format-time.ts'
import { mayRetract, type Retracted } from '../room/retraction.ts'
import { memberOf } from '../room/room-list.ts'
import type { RoomSession } from '../room/room-session.ts'
import { MessageActions } from './message-actions.tsx'
import { MessageText } from './message-text.tsx'
import { Quote } from './quote.tsx'
import type { IsMine } from './use-mine.ts'
import { t } from '../text/text.ts'

interface MessageProps {
  entry: Entry
  isMine: IsMine
  isNewDay: boolean
  isFirstUnread: boolean
  /** Whether the message was retracted, or retracts another one. */
  retracted: Retracted | undefined
  /** Follows another message by the same author closely, so the name is not repeated. */
  isGrouped: boolean
  session: RoomSession
  onReply: (entry: Entry) => void
  onShow: (id: string) => void
}

export function MessageView(props: MessageProps) {
  const { entry, isMine: isMineOf, retracted, isNewDay, isFirstUnread, isGrouped, session } = props
  const { id, at, author } = entry
  const isMine = isMineOf(entry)
  const isNotice = retracted === 'notice' || retracted === 'unloaded'
  const classes = ['message', isMine && 'mine', isGrouped && !isFirstUnread && 'grouped', isNotice && 'notice-line']
  return (
    <article
      class={classes.filter(Boolean).join(' ')}
      id={`m-${id}`}
      tabIndex={-1}
      // Without it, a focused message is read out by its name alone.
      aria-describedby={`t-${id}`}
      aria-label={t.messages.label(isMine ? t.authors.you : spokenName(author), clockTime(at))}
    >
      {isNewDay && <p class="day">{dayName(at)}</p>}
      {isFirstUnread && <p class="unread">{t.messages.newSince}</p>}
      {isNotice ? (
        <div class="message-body">
          <p class="retracted" id={`t-${id}`}>
            {noticeOf(entry, retracted, isMine)}
          </p>
        </div>
      ) : (
        <div class="message-body">
          <Avatar author={author} />
          <div class="message-main">
            <Byline entry={entry} isMine={isMine} />
            <Content {...props} />
          </div>
          {retracted !== 'hidden' && (
            <MessageActions entry={entry} canRetract={canRetract(entry, isMine)} session={session} onReply={props.onReply} />
          )}
        </div>
      )}
    </article>
  )
}

function Byline({ entry, isMine }: { entry: Entry; isMine: boolean }) {
  const { author, at } = entry
  const member = memberOf(entry)
  const note = member ? memberNote(member) : isMine ? author.email : authorNote(author)
  return (
    <p class="byline">
      <bdi class="name">{isMine ? t.authors.you : member ? memberName(member) : authorName(author)}</bdi>
      {author.kind === 'agent' && <AgentMark />}
      {note !== undefined && <bdi class="as">{note}</bdi>}
      <time dateTime={at} title={wholeMoment(at)}>
        {clockTime(at)}
      </time>
    </p>
  )
}

function Content({ entry: { id, author, message }, isMine, retracted, session, onShow }: MessageProps) {
  if (retracted === 'hidden') {
    return (
      <p class="retracted" id={`t-${id}`}>
        {t.tools.messages.hidden}
      </p>
    )
  }
  return (
    <>
      {message.reply_to !== undefined && <Quote id={message.reply_to} isMine={isMine} session={session} onShow={onShow} />}
      <MessageText text={message.text} id={`t-${id}`} isMarkdown={author.kind === 'agent'} />
    </>
  )
}

function noticeOf({ author }: Entry, retracted: 'notice' | 'unloaded', isMine: boolean) {
  const name = <bdi class="name">{authorName(author)}</bdi>
  if (retracted === 'unloaded') return t.tools.messages.unloaded(name)
  return isMine ? t.tools.messages.youNotice : t.tools.messages.notice(name)
}

/** Readers hide the message only if both have the same listed device or the same proven author. */
function canRetract(entry: Entry, isMine: boolean): boolean {
  if (!isMine || !mayRetract(entry, entry)) return false
  const email = accountStore.value.account?.email.toLowerCase()
  return memberOf(entry) !== undefined || entry.author.email?.toLowerCase() === email
}

import { useEffect } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { announce } from '../components/announcer.tsx'
import { copyText } from '../components/copy-button.tsx'
import { Icon } from '../components/icon.tsx'
import type { Pending } from '../room/outbox.ts'
import { parseRetraction } from '../room/retraction.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { MessageText } from './message-text.tsx'
import { Quote } from './quote.tsx'
import { showMessage } from './show-message.ts'
import type { IsMine } from './use-mine.ts'
import { t } from '../text/text.ts'

interface PendingViewProps {
  session: RoomSession
  isMine: IsMine
  onEdit: (text: string) => void
}

/** Messages that were written here and are not part of the history yet. */
export function PendingView({ session, isMine, onEdit }: PendingViewProps) {
  const pending = useStore(session.state, (state) => state.pending)
  if (pending.length === 0) return null
  return (
    <ul class="pending-list" aria-label={t.messages.pending}>
      {pending.map((message) => (
        <PendingMessage key={message.clientId} message={message} session={session} isMine={isMine} onEdit={onEdit} />
      ))}
    </ul>
  )
}

function PendingMessage({ message, session, isMine, onEdit }: PendingViewProps & { message: Pending }) {
  const { clientId, text, replyTo, state, failure } = message
  const isRetraction = parseRetraction({ message: { text, ...(replyTo !== undefined && { reply_to: replyTo }) } }) !== undefined
  // Nothing more is sent, so that it can only be copied.
  const hasMoved = useStore(session.state, ({ farewell }) => farewell !== undefined) && state !== 'sent'
  const why = hasMoved
    ? t.messages.refused(t.sealed.farewell.title)
    : state === 'refused'
      ? t.messages.refused(failureWords(failure).title)
      : undefined
  useEffect(() => {
    if (why !== undefined) announce(why)
  }, [why])
  const takeBack = () => {
    session.sender.drop([clientId])
    if (!isRetraction) onEdit(text)
  }
  return (
    <li class={`pending ${state}`}>
      {replyTo !== undefined && (
        <Quote id={replyTo} isMine={isMine} session={session} onShow={(id) => void showMessage(session, id)} />
      )}
      {isRetraction ? <p class="retracted">{t.tools.messages.retracting}</p> : <MessageText text={text} />}
      <p class="pending-state">
        <Icon name={why !== undefined ? 'cross' : state === 'sent' ? 'check' : 'clock'} />
        {why ?? (state !== 'refused' && t.messages[state])}
        {hasMoved && (
          <button class="link-button" type="button" onClick={() => void copyText(text)}>
            {t.tools.messages.copy}
          </button>
        )}
        {!hasMoved && (state === 'refused' || state === 'waiting') && (
          <button class="link-button" type="button" onClick={takeBack}>
            {t.messages.takeBack}
          </button>
        )}
        {!hasMoved && state === 'refused' && (
          <button class="link-button" type="button" onClick={() => session.sender.resend(clientId)}>
            {t.tryAgain}
          </button>
        )}
      </p>
    </li>
  )
}

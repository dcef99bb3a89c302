import type { Entry } from '@atrium/room-client/space-ops'
import { useRef, useState } from 'preact/hooks'
import { announce } from '../components/announcer.tsx'
import { authorName } from '../components/authors.ts'
import { Confirm } from '../components/confirm.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Icon } from '../components/icon.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'

interface MessageActionsProps {
  entry: Entry
  canRetract: boolean
  session: RoomSession
  onReply: (entry: Entry) => void
}

/** The Tab key reaches them while the message has the focus. */
export function MessageActions({ entry, canRetract, session, onReply }: MessageActionsProps) {
  const [asking, setAsking] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const keep = () => {
    setAsking(false)
    button.current?.focus()
  }
  return (
    <>
      <div class="actions" role="group" aria-label={t.tools.messages.actions}>
        {canRetract && (
          <button
            class="icon-button minor"
            type="button"
            tabIndex={-1}
            ref={button}
            aria-label={t.tools.messages.retract}
            title={t.tools.messages.retract}
            onClick={() => setAsking(true)}
          >
            <Icon name="trash" />
          </button>
        )}
        <CopyButton class="minor" text={entry.message.text} label={t.tools.messages.copy} />
        <button
          class="icon-button reply"
          type="button"
          tabIndex={-1}
          aria-label={t.messages.replyTo(authorName(entry.author))}
          onClick={() => onReply(entry)}
        >
          <Icon name="reply" />
        </button>
      </div>
      {asking && <Asking entry={entry} session={session} onKeep={keep} />}
    </>
  )
}

function Asking({ entry, session, onKeep }: { entry: Entry; session: RoomSession; onKeep: () => void }) {
  const retract = () => {
    document.getElementById(`m-${entry.id}`)?.focus()
    session.sender.retract(entry.id)
    onKeep()
    announce(t.tools.messages.retracting)
  }
  return (
    <Confirm
      class="retract"
      label={t.tools.messages.retractLabel}
      yes={t.tools.messages.retractIt}
      no={t.tools.messages.keepIt}
      small
      onYes={retract}
      onNo={onKeep}
    >
      <p>{t.tools.messages.retractHint}</p>
    </Confirm>
  )
}

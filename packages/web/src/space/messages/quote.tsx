import { AgentMark } from '../components/agent-mark.tsx'
import { authorName } from '../components/authors.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import type { IsMine } from './use-mine.ts'
import { t } from '../text/text.ts'

const SNIPPET_LENGTH = 140

interface QuoteProps {
  id: string
  isMine: IsMine
  session: RoomSession
  onShow: (id: string) => void
}

/** The start of the message that is replied to. A click scrolls to that message. */
export function Quote({ id, isMine, session, onShow }: QuoteProps) {
  const entry = useStore(session.state, () => session.reader.byId.get(id))
  const isHidden = useStore(session.state, (state) => state.retracted.get(id) === 'hidden')
  const name = !entry ? t.messages.earlierMessage : isMine(entry) ? t.authors.you : authorName(entry.author)
  return (
    <button class="quote" type="button" tabIndex={-1} onClick={() => onShow(id)}>
      {t.messages.inReplyTo(
        (words) => (
          <span class="visually-hidden">{words}</span>
        ),
        <bdi class="quote-name">{name}</bdi>,
      )}
      {entry?.author.kind === 'agent' && <AgentMark />}
      <span class="quote-text" dir="auto">
        {isHidden ? t.tools.messages.quoted : entry ? snippet(entry.message.text) : t.messages.notLoaded}
      </span>
    </button>
  )
}

export function snippet(text: string): string {
  return text
    .slice(0, SNIPPET_LENGTH * 2)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, SNIPPET_LENGTH)
}

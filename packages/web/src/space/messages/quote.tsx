import { AgentMark } from '../parts/agent-mark.tsx'
import { authorName } from '../parts/authors.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import type { IsMine } from './use-mine.ts'

const SNIPPET_LENGTH = 140

interface QuoteProps {
  id: string
  isMine: IsMine
  session: RoomSession
  onShow: (id: string) => void
}

/** What is replied to, in short; pressing it goes there. */
export function Quote({ id, isMine, session, onShow }: QuoteProps) {
  const entry = useStore(session.state, () => session.reader.byId.get(id))
  const name = !entry ? 'An earlier message' : isMine(entry) ? 'You' : authorName(entry.author)
  return (
    <button class="quote" type="button" tabIndex={-1} onClick={() => onShow(id)}>
      <span class="unseen">In reply to </span>
      <bdi class="quote-name">{name}</bdi>
      {entry?.author.kind === 'agent' && <AgentMark />}
      <span class="quote-text" dir="auto">
        {entry ? snippet(entry.message.text) : 'Not loaded yet'}
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

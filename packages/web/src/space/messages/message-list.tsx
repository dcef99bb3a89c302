import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Entry } from '@atrium/room-client/space-ops'
import { announce } from '../components/announcer.tsx'
import { copyText } from '../components/copy-button.tsx'
import { dayKey } from '../components/format-time.ts'
import { Icon } from '../components/icon.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { ChunkView } from './chunk-view.tsx'
import { EmptyRoom } from './empty-room.tsx'
import { focusMessages, messageKeys } from './message-keys.ts'
import { PendingView } from './pending-view.tsx'
import { showMessage } from './show-message.ts'
import { useMine } from './use-mine.ts'
import { useStill } from './use-still.ts'
import { t } from '../text/text.ts'

interface MessageListProps {
  session: RoomSession
  onReply: (entry: Entry) => void
  /** Back to writing. */
  onLeave: () => void
  /** Opens the list of a room. */
  onPeople: () => void
  /** A rejected message, for another attempt. */
  onEdit: (text: string) => void
}

const NEAR_END_PX = 80
/** The newest messages are rendered at once, and older ones in steps that leave frames between them. */
const FIRST_CHUNKS = 4
const STEP_CHUNKS = 8
const MINUTE_MS = 60_000

export function MessageList({ session, onReply, onLeave, onPeople, onEdit }: MessageListProps) {
  const chunks = useStore(session.state, (state) => state.chunks)
  const pending = useStore(session.state, (state) => state.pending)
  const readTo = useStore(session.state, (state) => state.readTo)
  const retracted = useStore(session.state, (state) => state.retracted)
  const scroller = useRef<HTMLDivElement>(null)
  const isMine = useMine(session)
  const last = chunks.at(-1)?.entries.at(-1)
  const { atEnd, unread, toEnd } = useEnd(scroller, last?.seq, session)
  useStill(scroller, session, () => (scroller.current?.scrollTop ?? 0) <= -NEAR_END_PX)
  const latest = useRef({ onReply, onLeave })
  latest.current = { onReply, onLeave }
  const reply = useCallback((entry: Entry) => latest.current.onReply(entry), [])
  const show = useCallback((id: string) => void showMessage(session, id), [session])
  const undrawn = useUndrawn(chunks.length)
  const today = useToday()
  useLayoutEffect(toEnd, [pending.length > 0 ? pending.at(-1)?.clientId : undefined])
  // Before the list can be used: somebody who sees it may press a key or scroll at once.
  useLayoutEffect(() => {
    if (!scroller.current) return undefined
    const find = (id: string) => (session.state.value.retracted.has(id) ? undefined : session.reader.byId.get(id))
    return messageKeys(scroller.current, find, {
      onReply: reply,
      onCopy: ({ message }) => void copyText(message.text),
      onLeave: () => latest.current.onLeave(),
    })
  }, [])
  return (
    <div class="messages">
      <div class="scroller" ref={scroller}>
        <div class="column">
          <Earlier session={session} />
          {chunks.length === 0 && pending.length === 0 && <EmptyRoom session={session} onInvite={onPeople} />}
          {/* A feed without an article is none. */}
          <div
            {...(chunks.length > 0 && { role: 'feed', 'aria-label': t.messages.list, 'aria-describedby': 'message-keys' })}
            {...(undrawn > 0 && { 'aria-busy': true })}
          >
            {chunks.map((chunk, i) => (
              <ChunkView
                key={chunk.index}
                chunk={chunk}
                isDrawn={i >= undrawn}
                before={chunks[i - 1]?.entries.at(-1)}
                today={today}
                readTo={readTo}
                isMine={isMine}
                retracted={retracted}
                session={session}
                onReply={reply}
                onShow={show}
              />
            ))}
          </div>
          <PendingView session={session} isMine={isMine} onEdit={onEdit} />
        </div>
      </div>
      <p class="visually-hidden" id="message-keys">
        {t.messages.keys}
      </p>
      {!atEnd && (
        <button
          class="to-end"
          type="button"
          onClick={({ detail }) => {
            toEnd()
            // By keyboard.
            if (detail === 0) focusMessages()
          }}
        >
          <Icon name="down" />
          {unread > 0 ? t.messages.fresh(unread) : t.messages.newest}
        </button>
      )}
    </div>
  )
}

/** How many chunks before the others are not rendered yet. */
function useUndrawn(count: number): number {
  const [drawn, setDrawn] = useState(FIRST_CHUNKS)
  useEffect(() => {
    if (drawn >= count) return undefined
    const timer = setTimeout(() => setDrawn(drawn + STEP_CHUNKS))
    return () => clearTimeout(timer)
  }, [drawn, count])
  return Math.max(count - drawn, 0)
}

/** The local day. A room that stays open past midnight shows yesterday's messages as such. */
function useToday(): string {
  const today = dayKey(new Date().toISOString())
  const [, setDay] = useState(today)
  useEffect(() => {
    const timer = setInterval(() => setDay(dayKey(new Date().toISOString())), MINUTE_MS)
    return () => clearInterval(timer)
  }, [])
  return today
}

function Earlier({ session }: { session: RoomSession }) {
  const hasEarlier = useStore(session.state, (state) => state.hasEarlier)
  const loading = useStore(session.state, (state) => state.loadingEarlier)
  const load = async () => {
    const before = session.reader.byId.size
    await session.reader.loadEarlier()
    announce(t.tools.spoken.earlier(session.reader.byId.size - before))
  }
  if (!hasEarlier) return null
  return (
    <div class="earlier">
      <button class="button" type="button" aria-disabled={loading} onClick={() => void load()}>
        {loading ? t.messages.fetchingEarlier : t.messages.earlier}
      </button>
    </div>
  )
}

/**
 * Whether the newest message is in view, and how many arrived since it last was. The scroller is a reversed column:
 * its origin is the end, so that it stays there when messages arrive or the keyboard of a phone opens.
 */
function useEnd(scroller: { current: HTMLDivElement | null }, lastSeq: number | undefined, session: RoomSession) {
  const [atEnd, setAtEnd] = useState(true)
  const seenSeq = useRef(lastSeq)
  const look = useCallback(() => setAtEnd((scroller.current?.scrollTop ?? 0) > -NEAR_END_PX), [])
  useLayoutEffect(() => {
    const element = scroller.current
    element?.addEventListener('scroll', look, { passive: true })
    return () => element?.removeEventListener('scroll', look)
  }, [])
  useEffect(() => {
    const read = () => {
      if (!atEnd || document.hidden || lastSeq === undefined) return
      seenSeq.current = lastSeq
      session.markRead(lastSeq)
    }
    read()
    document.addEventListener('visibilitychange', read)
    return () => document.removeEventListener('visibilitychange', read)
  }, [atEnd, lastSeq])
  const toEnd = useCallback(() => {
    if (scroller.current) scroller.current.scrollTop = 0
  }, [])
  return { atEnd, unread: Math.max((lastSeq ?? 0) - (seenSeq.current ?? 0), 0), toEnd }
}

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useInvitedAgents } from '../agents/use-invited-agents.ts'
import type { SpaceConfig } from '../config.ts'
import { Composer, type ComposerHandle } from '../messages/composer.tsx'
import { MessageList } from '../messages/message-list.tsx'
import { announce } from '../components/announcer.tsx'
import { keepFocus } from '../components/keep-focus.ts'
import { refreshRoom } from '../room/kept-rooms.ts'
import type { Entry } from '@atrium/room-client/space-ops'
import type { RoomSession } from '../room/room-session.ts'
import { later } from '../components/later.tsx'
import { ShareSheet } from '../sheets/share-sheet.tsx'
import { useStore } from '../use-store.ts'
import { InvitedBar } from './invited-bar.tsx'
import { RoomBanners } from './room-banners.tsx'
import { RoomHead } from './room-head.tsx'
import { TamperedBox } from './tampered-box.tsx'
import { useRoomName } from './use-room-name.ts'
import { t } from '../text/text.ts'

const FarewellBox = later(async () => (await import('./farewell-box.tsx')).FarewellBox)
const AboutSheet = later(async () => (await import('../sheets/about-sheet.tsx')).AboutSheet, { isDialog: true })
const InviteSheet = later(async () => (await import('../sheets/invite-sheet.tsx')).InviteSheet, { isDialog: true })
const ListedPeople = later(async () => (await import('../sheets/listed-people.tsx')).ListedPeople, { isDialog: true })
const PeopleSheet = later(async () => (await import('../sheets/people-sheet.tsx')).PeopleSheet, { isDialog: true })
const ProtectionSheet = later(async () => (await import('../sheets/protection-sheet.tsx')).ProtectionSheet, { isDialog: true })
/** After the history, which comes first. */
const FETCH_SHEETS_MS = 1_500

export type SheetName = 'share' | 'people' | 'invite' | 'protection' | 'about'

interface OpenRoomProps {
  session: RoomSession
  config: SpaceConfig | undefined
}

export function OpenRoom({ session, config }: OpenRoomProps) {
  const [sheet, setSheet] = useState<SheetName>()
  const [replyTo, setReplyTo] = useState<Entry>()
  const composer = useRef<ComposerHandle>(null)
  const main = useRef<HTMLElement>(null)
  const phase = useStore(session.state, (state) => state.phase)
  const farewell = useStore(session.state, (state) => state.farewell)
  const invited = useInvitedAgents(session, config)
  const name = useRoomName(session)
  useRoomTitle(session, name)
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const one of [AboutSheet, InviteSheet, PeopleSheet, ProtectionSheet]) void one.fetch()
    }, FETCH_SHEETS_MS)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    const { chunks } = session.state.value
    const count = chunks.reduce((sum, { entries }) => sum + entries.length, 0)
    announce(t.tools.spoken.opened(name, count))
  }, [session])
  useLayoutEffect(() => (main.current ? keepFocus(main.current, main.current) : undefined), [])
  const close = () => setSheet(undefined)
  const reply = (entry: Entry) => {
    setReplyTo(entry)
    composer.current?.focus()
  }
  return (
    <div class="room">
      <RoomHead session={session} shown={sheet} onOpen={(name) => setSheet(sheet === name ? undefined : name)} />
      <main class="room-main" ref={main}>
        <RoomBanners session={session} config={config} onOpen={setSheet} />
        {invited && <InvitedBar invited={invited} onDismiss={() => composer.current?.focus()} />}
        <MessageList
          session={session}
          onReply={reply}
          onLeave={() => composer.current?.focus()}
          onPeople={() => setSheet('people')}
          onEdit={(text) => composer.current?.put(text)}
        />
        {phase === 'tampered' && <TamperedBox session={session} />}
        {farewell && <FarewellBox session={session} farewell={farewell} />}
        {phase === 'open' && !farewell && (
          <Composer
            session={session}
            handle={composer}
            replyTo={replyTo}
            onReplyTo={setReplyTo}
            onChangeName={() => setSheet('about')}
          />
        )}
      </main>
      {sheet === 'share' && <ShareSheet session={session} onClose={close} />}
      {sheet === 'people' && session.listed && (
        <ListedPeople
          session={session}
          listed={session.listed}
          onInvite={invited && (() => setSheet('invite'))}
          onClose={close}
        />
      )}
      {sheet === 'people' && !session.listed && (
        <PeopleSheet session={session} onClose={close} hasCatalog={invited !== undefined} onInvite={() => setSheet('invite')} />
      )}
      {sheet === 'invite' && config && (
        <InviteSheet session={session} config={config} invited={invited} onLetIn={() => setSheet('people')} onClose={close} />
      )}
      {sheet === 'protection' && <ProtectionSheet session={session} apiUrl={config?.api_url} onClose={close} />}
      {sheet === 'about' && <AboutSheet session={session} config={config} onClose={close} />}
    </div>
  )
}

/** The title of the tab: the room and, while the tab is hidden, the number of new messages. */
function useRoomTitle(session: RoomSession, name: string): void {
  const title = useStore(session.state, (state) => state.title)
  const count = useStore(session.state, (state) => state.head?.count ?? 0)
  const seenCount = useRef(count)
  const before = useRef(title)
  useEffect(() => {
    refreshRoom(session.secret, title)
    if (title !== undefined && before.current !== title) announce(t.tools.title.changed(title))
    before.current = title
  }, [title])
  useEffect(() => {
    const show = () => {
      if (!document.hidden) seenCount.current = count
      const unread = Math.max(count - seenCount.current, 0)
      document.title = t.room.tab(name, unread)
    }
    show()
    document.addEventListener('visibilitychange', show)
    return () => document.removeEventListener('visibilitychange', show)
  }, [name, count, t])
}

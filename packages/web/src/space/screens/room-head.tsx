import { ArchMark } from '../parts/arch.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import type { SheetName } from './open-room.tsx'
import { t } from '../text/text.ts'

interface RoomHeadProps {
  session: RoomSession
  onOpen: (sheet: SheetName) => void
}

export function RoomHead({ session, onOpen }: RoomHeadProps) {
  const title = useStore(session.state, (state) => state.title)
  const policy = useStore(session.state, (state) => state.policy)
  return (
    <header class="room-head">
      <a class="home" href="/space" aria-label={t.room.home}>
        <ArchMark />
      </a>
      <div class="room-name">
        <h1 dir="auto">{title ?? t.room.untitled}</h1>
        <p>{policy === 'email' ? t.room.listed : t.room.anyone}</p>
      </div>
      <nav aria-label={t.room.nav}>
        <HeadButton icon="share" label={t.room.share} onClick={() => onOpen('share')} />
        <HeadButton icon="people" label={t.room.people} onClick={() => onOpen('people')} />
        <HeadButton icon="shield" label={t.room.protection} onClick={() => onOpen('protection')} />
        <HeadButton icon="more" label={t.room.more} onClick={() => onOpen('about')} />
      </nav>
    </header>
  )
}

function HeadButton({ icon, label, onClick }: { icon: IconName; label: string; onClick: () => void }) {
  return (
    <button class="head-button" type="button" aria-haspopup="dialog" onClick={onClick}>
      <Icon name={icon} />
      <span class="head-label">{label}</span>
    </button>
  )
}

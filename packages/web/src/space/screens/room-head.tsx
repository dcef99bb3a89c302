import { ArchMark } from '../parts/arch.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import type { SheetName } from './open-room.tsx'

interface RoomHeadProps {
  session: RoomSession
  onOpen: (sheet: SheetName) => void
}

export function RoomHead({ session, onOpen }: RoomHeadProps) {
  const title = useStore(session.state, (state) => state.title)
  const policy = useStore(session.state, (state) => state.policy)
  return (
    <header class="room-head">
      <a class="home" href="/space" aria-label="Space: make another room">
        <ArchMark />
      </a>
      <div class="room-name">
        <h1 dir="auto">{title ?? 'Room'}</h1>
        <p>{policy === 'email' ? 'Only people on its list' : 'Anyone with the link'}</p>
      </div>
      <nav aria-label="Room">
        <HeadButton icon="share" label="Share" onClick={() => onOpen('share')} />
        <HeadButton icon="people" label="People" onClick={() => onOpen('people')} />
        <HeadButton icon="shield" label="Protection" onClick={() => onOpen('protection')} />
        <HeadButton icon="more" label="More" onClick={() => onOpen('about')} />
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

import { ArchMark } from '../components/arch.tsx'
import { Icon, type IconName } from '../components/icon.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import type { SheetName } from './open-room.tsx'
import { useRoomName } from './use-room-name.ts'
import { homeHref } from '../service.ts'
import { t } from '../text/text.ts'

interface RoomHeadProps {
  session: RoomSession
  /** The panel that is open, maybe docked. */
  shown: SheetName | undefined
  onOpen: (sheet: SheetName) => void
}

export function RoomHead({ session, shown, onOpen }: RoomHeadProps) {
  const policy = useStore(session.state, (state) => state.policy)
  const { kind } = session.secret
  return (
    <header class="room-head">
      <a class="home" href={homeHref()} aria-label={t.room.home}>
        <ArchMark />
      </a>
      <div class="room-name">
        <h1 dir="auto">{useRoomName(session)}</h1>
        <p>
          {kind === 'listed'
            ? t.sealed.list.head
            : policy === 'email'
              ? t.room.listed
              : kind === 'client-sealed'
                ? t.room.sealed
                : t.room.anyone}
        </p>
      </div>
      <nav aria-label={t.room.nav}>
        <HeadButton icon="share" label={t.room.share} isOpen={shown === 'share'} onClick={() => onOpen('share')} />
        <HeadButton
          icon="people"
          label={t.room.people}
          isOpen={shown === 'people' || shown === 'invite'}
          onClick={() => onOpen('people')}
        />
        <HeadButton
          icon="shield"
          label={t.room.protection}
          isOpen={shown === 'protection'}
          onClick={() => onOpen('protection')}
        />
        <HeadButton icon="more" label={t.room.more} isOpen={shown === 'about'} onClick={() => onOpen('about')} />
      </nav>
    </header>
  )
}

interface HeadButtonProps {
  icon: IconName
  label: string
  isOpen: boolean
  onClick: () => void
}

function HeadButton({ icon, label, isOpen, onClick }: HeadButtonProps) {
  return (
    <button class="head-button" type="button" aria-haspopup="dialog" aria-expanded={isOpen} onClick={onClick}>
      <Icon name={icon} />
      <span class="head-label">{label}</span>
    </button>
  )
}

import { Sheet } from '../parts/sheet.tsx'
import { ShareLink } from '../parts/share-link.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'

export function ShareSheet({ session, onClose }: { session: RoomSession; onClose: () => void }) {
  const policy = useStore(session.state, (state) => state.policy)
  const title = useStore(session.state, (state) => state.title)
  return (
    <Sheet title="Share this room" onClose={onClose}>
      <p>
        {policy === 'email'
          ? 'Whoever comes in needs this link, and must be on the list.'
          : 'Everyone who has this link can read all that was written, and write.'}
      </p>
      <ShareLink title={title} />
      <p class="hint">
        What stands after the <code>#</code> is the room’s name and its key. Your browser does not send that part when it opens
        the page; reading and writing need the key, and the service forgets it after each answer. Nobody keeps a copy for you:
        keep the link.
      </p>
    </Sheet>
  )
}

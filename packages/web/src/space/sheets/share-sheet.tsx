import { Sheet } from '../components/sheet.tsx'
import { ShareLink } from '../components/share-link.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { t } from '../text/text.ts'

export function ShareSheet({ session, onClose }: { session: RoomSession; onClose: () => void }) {
  const policy = useStore(session.state, (state) => state.policy)
  const title = useStore(session.state, (state) => state.title)
  return (
    <Sheet title={t.share.title} onClose={onClose}>
      <p>{session.listed ? t.sealed.list.share : policy === 'email' ? t.share.listed : t.share.open}</p>
      <ShareLink title={title} />
      {!session.listed && (
        <p class="hint">
          {(session.secret.kind === 'client-sealed' ? t.share.explainedSealed : t.share.explained)(<code>#</code>)}
        </p>
      )}
    </Sheet>
  )
}

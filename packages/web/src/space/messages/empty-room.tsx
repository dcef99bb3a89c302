import { ArchDrawing } from '../components/arch.tsx'
import { ShareLink } from '../components/share-link.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { ownerIn } from '../room-link.ts'
import { useStore } from '../use-store.ts'
import { t } from '../text/text.ts'

/** Shown before the first message. The visitor needs the link at this point. */
export function EmptyRoom({ session, onInvite }: { session: RoomSession; onInvite: () => void }) {
  const policy = useStore(session.state, (state) => state.policy)
  const title = useStore(session.state, (state) => state.title)
  const isOwner = session.listed?.own.device.signing.thumbprint === ownerIn(session.secret)
  return (
    <section class="empty" aria-labelledby="empty-title">
      <ArchDrawing />
      <h2 id="empty-title">{t.messages.emptyTitle}</h2>
      {session.listed ? (
        <>
          {/* Only the owner invites. */}
          <p>{isOwner ? t.sealed.list.empty : t.sealed.list.emptyMember}</p>
          <div class="buttons">
            <button class="button primary" type="button" aria-haspopup="dialog" onClick={onInvite}>
              {t.room.people}
            </button>
          </div>
        </>
      ) : (
        <>
          <p>{policy === 'email' ? t.messages.emptyListed : t.messages.emptyOpen}</p>
          <ShareLink title={title} />
        </>
      )}
    </section>
  )
}

import { ArchDrawing } from '../parts/arch.tsx'
import { ShareLink } from '../parts/share-link.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'

/** Before the first message: the link is what one needs then. */
export function EmptyRoom({ session }: { session: RoomSession }) {
  const policy = useStore(session.state, (state) => state.policy)
  const title = useStore(session.state, (state) => state.title)
  return (
    <section class="empty" aria-labelledby="empty-title">
      <ArchDrawing />
      <h2 id="empty-title">The room is ready</h2>
      <p>
        {policy === 'email'
          ? 'Send its link to the people on the list: they need it, and their sign-in.'
          : 'Send its link to whoever should come in: everyone who has it can read and write.'}{' '}
        Keep it, too. It holds the only key, and nobody can give you another.
      </p>
      <ShareLink title={title} />
    </section>
  )
}

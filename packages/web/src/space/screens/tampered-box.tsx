import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import { loadCode } from '../load-code.ts'
import type { RoomSession } from '../room/room-session.ts'
import { ownerIn } from '../room-link.ts'
import { useStore } from '../use-store.ts'
import { t } from '../text/text.ts'

/** In place of the composer: where the part of the history ends that has passed every check. */
export function TamperedBox({ session }: { session: RoomSession }) {
  const failure = useStore(session.state, (state) => state.failure)
  const words = t.failures.tampered
  if (!(failure instanceof TamperedRoomError)) return null
  return (
    <section class="farewell tampered" aria-labelledby="tampered">
      <h2 id="tampered">{words.endTitle}</h2>
      <p>{words.end(failure.seq)}</p>
      <AfterRestore session={session} />
      <button class="link-button" type="button" onClick={() => void readAnew(session)}>
        {words.again}
      </button>
    </section>
  )
}

/** A removal that was lost has to be repeated, which only the owner can do. */
export function AfterRestore({ session: { listed, secret } }: { session: RoomSession }) {
  return listed?.own.device.signing.thumbprint === ownerIn(secret) ? <p>{t.failures.tampered.restored}</p> : null
}

/** The service may have lost lines by an accident, which its operator has explained. */
export async function readAnew({ secret }: RoomSession): Promise<void> {
  const { dropLines } = await loadCode(() => import('../room/line-cache.ts'))
  await dropLines(secret.room)
  location.reload()
}

import { useState } from 'preact/hooks'
import { announce } from '../components/announcer.tsx'
import { forgetRoom } from '../room/forget-rooms.ts'
import { findKept, type Keeping, keepRoom, keptRoomsStore } from '../room/kept-rooms.ts'
import type { RoomSession } from '../room/room-session.ts'
import { homeHref } from '../service.ts'
import { RoomNameForm } from './room-name-form.tsx'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'

/** Nothing is kept before the button is pressed. */
export function KeepRoom({ session }: { session: RoomSession }) {
  const { secret, state, listed } = session
  const kept = useStore(keptRoomsStore, (value) => findKept(secret, value))
  const [keeping, setKeeping] = useState<Keeping>('kept')
  const keep = () => {
    const done = keepRoom(secret, state.value.title, listed?.others)
    setKeeping(done)
    if (done === 'kept') announce(t.tools.kept.saidKept)
  }
  const forget = () => {
    forgetRoom(secret)
    announce(t.tools.kept.saidForgotten(kept?.name ?? state.value.title ?? t.room.untitled))
  }
  return (
    <section aria-labelledby="kept">
      <h3 id="kept">{t.tools.kept.title}</h3>
      <p>{kept ? t.tools.kept.isKept : t.tools.kept.keepHint}</p>
      {listed && <p>{t.tools.kept.othersHint}</p>}
      <div class="buttons">
        {/* One button, so that the focus stays on it. The second click of a double click would take back the first. */}
        <button class="button" type="button" onClick={({ detail }) => detail < 2 && (kept ? forget() : keep())}>
          {kept ? t.tools.kept.forget : t.tools.kept.keep}
        </button>
        {/* On a phone, the head of the room has no space for it. */}
        <a class="button" href={homeHref()}>
          {t.tools.kept.startPage}
        </a>
      </div>
      {kept && <RoomNameForm session={session} name={kept.name ?? ''} />}
      {!kept && keeping !== 'kept' && (
        <p class="problem" role="alert">
          {t.tools.kept[keeping]}
        </p>
      )}
    </section>
  )
}

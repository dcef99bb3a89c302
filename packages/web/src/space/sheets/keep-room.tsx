import { useState } from 'preact/hooks'
import { announce } from '../components/announcer.tsx'
import { forgetRoom, keepRoom, keptRoomsStore } from '../room/kept-rooms.ts'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'

/** Nothing is kept before the button is pressed. */
export function KeepRoom({ session }: { session: RoomSession }) {
  const { secret, state } = session
  const isKept = useStore(keptRoomsStore, ({ rooms }) => rooms.some(({ room }) => room === secret.room))
  const [refused, setRefused] = useState(false)
  const keep = () => {
    const done = keepRoom(secret, state.value.title)
    setRefused(!done)
    if (done) announce(t.tools.kept.saidKept)
  }
  const forget = () => {
    forgetRoom(secret.room)
    announce(t.tools.kept.saidForgotten(state.value.title ?? t.room.untitled))
  }
  return (
    <section aria-labelledby="kept">
      <h3 id="kept">{t.tools.kept.title}</h3>
      <p>{isKept ? t.tools.kept.isKept : t.tools.kept.keepHint}</p>
      <div class="buttons">
        {/* One button, so that the focus stays on it. The second click of a double click would take back the first. */}
        <button class="button" type="button" onClick={({ detail }) => detail < 2 && (isKept ? forget() : keep())}>
          {isKept ? t.tools.kept.forget : t.tools.kept.keep}
        </button>
      </div>
      {refused && (
        <p class="problem" role="alert">
          {t.tools.kept.refused}
        </p>
      )}
    </section>
  )
}

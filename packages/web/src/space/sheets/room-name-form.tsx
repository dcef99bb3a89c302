import { useId, useState } from 'preact/hooks'
import { announce } from '../components/announcer.tsx'
import { cleanName } from '../components/authors.ts'
import { Problem } from '../components/problem.tsx'
import { nameRoom } from '../room/kept-rooms.ts'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'

const MAX_NAME_LENGTH = 200

/** What the visitor calls a room that this device keeps. `name`: now; empty: as its title does. */
export function RoomNameForm({ session, name }: { session: RoomSession; name: string }) {
  const [text, setText] = useState(name)
  const [problem, setProblem] = useState<string>()
  const id = useId()
  const asked = cleanName(text) ?? ''
  const isNew = asked !== name
  const save = () => {
    if (!isNew) return
    const isStored = nameRoom(session.secret, asked || undefined)
    setProblem(isStored ? undefined : t.tools.kept.refused)
    if (isStored) announce(t.tools.title.changed(asked || session.state.value.title || t.room.untitled))
  }
  return (
    <form
      class="admit"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <label for={id}>{t.tools.kept.nameLabel}</label>
      <div class="admit-row">
        <input
          id={id}
          type="text"
          dir="auto"
          autoComplete="off"
          maxLength={MAX_NAME_LENGTH}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button class="button" type="submit" aria-disabled={!isNew}>
          {t.tools.kept.name}
        </button>
      </div>
      <Problem text={problem} />
    </form>
  )
}

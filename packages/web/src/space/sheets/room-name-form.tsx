import { useState } from 'preact/hooks'
import { announce } from '../components/announcer.tsx'
import { cleanName } from '../components/authors.ts'
import { nameRoom } from '../room/kept-rooms.ts'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'
import { TextForm } from './text-form.tsx'

/** What the visitor calls a room that this device keeps. `name`: now; empty: as its title does. */
export function RoomNameForm({ session, name }: { session: RoomSession; name: string }) {
  const [text, setText] = useState(name)
  const [problem, setProblem] = useState<string>()
  const asked = cleanName(text) ?? ''
  const save = () => {
    const isStored = nameRoom(session.secret, asked || undefined)
    setProblem(isStored ? undefined : t.tools.kept.refused)
    if (isStored) announce(t.tools.title.changed(asked || session.state.value.title || t.room.untitled))
  }
  return (
    <TextForm
      label={t.tools.kept.nameLabel}
      button={t.tools.kept.name}
      text={text}
      setText={setText}
      canSave={asked !== name}
      onSave={save}
      problem={problem}
    />
  )
}

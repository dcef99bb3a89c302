import { useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { callSpace, RETRIES } from '../api/space-client.ts'
import { type As, identityIn } from '../identity/present.ts'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'
import { TextForm } from './text-form.tsx'

/** For the room's owner. The new title arrives with the next poll, for the owner as for everyone. */
export function TitleForm({ session, as }: { session: RoomSession; as: As }) {
  const [title, setTitle] = useState(session.state.value.title ?? '')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const asked = title.trim()
  const save = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      const { room, mk } = session.secret
      await callSpace({ op: 'rename', room, mk, title: asked }, { identity: await identityIn(room, as), retries: RETRIES })
    } catch (error) {
      const { title: what, text } = failureWords(error)
      setProblem(t.titled(what, text))
    }
    setBusy(false)
  }
  return (
    <section aria-labelledby="title-heading">
      <h3 id="title-heading">{t.tools.title.heading}</h3>
      <TextForm
        label={t.tools.title.label}
        isLabelHidden
        button={t.tools.title.save}
        text={title}
        setText={setTitle}
        canSave={asked !== '' && asked !== session.state.value.title && !busy}
        onSave={() => void save()}
        problem={problem}
      />
    </section>
  )
}

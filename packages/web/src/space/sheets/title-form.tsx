import { useId, useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { callSpace, RETRIES } from '../api/space-client.ts'
import { type As, identityIn } from '../identity/present.ts'
import { Problem } from '../components/problem.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'

const MAX_TITLE_LENGTH = 200

/** For the room's owner. The new title arrives with the next poll, for the owner as for everyone. */
export function TitleForm({ session, as }: { session: RoomSession; as: As }) {
  const [title, setTitle] = useState(session.state.value.title ?? '')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const id = useId()
  const asked = title.trim()
  const canSave = asked !== '' && asked !== session.state.value.title && !busy
  const save = async () => {
    if (!canSave) return
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
      <form
        class="admit"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <label class="visually-hidden" for={id}>
          {t.tools.title.label}
        </label>
        <div class="admit-row">
          <input
            id={id}
            type="text"
            dir="auto"
            autoComplete="off"
            maxLength={MAX_TITLE_LENGTH}
            value={title}
            onInput={(event) => setTitle(event.currentTarget.value)}
          />
          <button class="button" type="submit" aria-disabled={!canSave}>
            {t.tools.title.save}
          </button>
        </div>
        <Problem text={problem} />
      </form>
    </section>
  )
}

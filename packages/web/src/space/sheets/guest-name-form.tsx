import { useId, useState } from 'preact/hooks'
import { type ClaimedName, MAX_NAME_LENGTH } from '../identity/claimed-name.ts'
import { announce } from '../components/announcer.tsx'
import { cleanName, isClaimable } from '../components/authors.ts'
import { describedBy, Problem } from '../components/problem.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'

/** The name under which a guest writes. It is sent only with the next message. */
export function GuestNameForm({ session }: { session: RoomSession }) {
  const kept = useStore(session.names, (value) => value)
  const [text, setText] = useState(kept.name ?? '')
  const [scope, setScope] = useState(kept.scope)
  const [problem, setProblem] = useState<string>()
  const [id, hintId, problemId] = [useId(), useId(), useId()]
  const save = async () => {
    const name = cleanName(text) ?? ''
    const isAllowed = name === '' || isClaimable(name)
    setProblem(isAllowed ? undefined : t.tools.names.notAllowed)
    if (!isAllowed) return
    await session.names.keep(name, scope)
    const { name: saved } = session.names.value
    announce(saved === undefined ? t.tools.names.cleared : t.tools.names.saved(saved))
  }
  const choice = (value: ClaimedName['scope'], label: string, hint?: string) => (
    <label class="choice">
      <input type="radio" name={`${id}-scope`} checked={scope === value} onChange={() => setScope(value)} />
      <span>
        <span class="choice-label">{label}</span>
        {hint !== undefined && <span class="hint">{hint}</span>}
      </span>
    </label>
  )
  return (
    <form
      class="guest-name"
      noValidate
      aria-label={t.tools.names.title}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <label for={id}>{t.tools.names.label}</label>
      <input
        id={id}
        type="text"
        dir="auto"
        autoComplete="nickname"
        maxLength={MAX_NAME_LENGTH}
        {...describedBy(hintId, problemId, problem !== undefined)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p class="hint" id={hintId}>
        {t.tools.names.hint}
      </p>
      <fieldset>
        <legend>{t.tools.names.where}</legend>
        {choice('room', t.tools.names.inRoom)}
        {choice('device', t.tools.names.everywhere, t.tools.names.everywhereHint)}
      </fieldset>
      <Problem id={problemId} text={problem} />
      <div class="buttons">
        <button class="button" type="submit">
          {t.tools.names.save}
        </button>
      </div>
    </form>
  )
}

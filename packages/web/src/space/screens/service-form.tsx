import { useId, useState } from 'preact/hooks'
import { describedBy, Problem } from '../components/problem.tsx'
import { parseFragment } from '../room-link.ts'
import { chooseService, parseLink, serviceOrigin } from '../service.ts'
import { t } from '../text/text.ts'

/** In the app in one file: opens a room by its whole link, or chooses the service for new rooms. */
export function ServiceForm() {
  const [id, hintId, problemId] = [useId(), useId(), useId()]
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const current = serviceOrigin()
  const open = () => {
    const link = parseLink(text)
    if (!link || (link.fragment !== '' && !parseFragment(link.fragment))) return setProblem(t.tools.file.notLink)
    if (link.fragment === '') chooseService(link.origin)
    else location.hash = `#${link.origin}/space${link.fragment}`
  }
  return (
    <form
      class="card"
      aria-label={t.tools.file.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        open()
      }}
    >
      <div class="field">
        <label for={id}>{t.tools.file.link}</label>
        <input
          id={id}
          type="url"
          dir="ltr"
          autoComplete="off"
          spellcheck={false}
          {...describedBy(hintId, problemId, problem !== undefined)}
          value={text}
          onInput={(event) => {
            setProblem(undefined)
            setText(event.currentTarget.value)
          }}
        />
        <p class="hint" id={hintId}>
          {current === undefined ? t.tools.file.hint : t.tools.file.current(<bdi>{current}</bdi>)}
        </p>
      </div>
      <Problem id={problemId} text={problem} />
      <div class="buttons">
        <button class="button primary" type="submit">
          {t.tools.file.open}
        </button>
      </div>
    </form>
  )
}

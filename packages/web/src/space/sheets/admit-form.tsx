import { type ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { describedBy, Problem } from '../components/problem.tsx'
import { t } from '../text/text.ts'

interface AdmitFormProps {
  label: string
  placeholder: string
  inputMode: 'email' | 'text'
  hint?: ComponentChildren
  /** Default: to let in. */
  button?: string
  /** The accounts in the text, and its first invalid word. */
  parse: (text: string) => { names: string[]; wrong: string | undefined }
  wrongText: (wrong: string) => string
  /** `isIn` is called for each that is let in, if they are let in one after the other. Resolves to whether all are. */
  onAdmit: (names: string[], isIn: (name: string) => void) => Promise<boolean>
  /** Another change of the list is on its way. */
  mustWait?: boolean
}

/** Lets people, or agents, onto the list. */
export function AdmitForm({
  label,
  placeholder,
  inputMode,
  hint,
  button = t.people.letIn,
  parse,
  wrongText,
  onAdmit,
  mustWait = false,
}: AdmitFormProps) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [id, hintId, problemId] = [useId(), useId(), useId()]
  const admit = async () => {
    const { names, wrong } = parse(text)
    setProblem(wrong === undefined ? undefined : wrongText(wrong))
    if (wrong !== undefined || names.length === 0 || busy || mustWait) return
    setBusy(true)
    const left = new Set(names)
    let isDone = false
    try {
      isDone = await onAdmit(names, (name) => left.delete(name))
    } finally {
      setBusy(false)
    }
    // Another attempt is for the others alone.
    if (isDone) setText('')
    else if (left.size < names.length) setText([...left].join(', '))
  }
  return (
    <form
      class="admit"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void admit()
      }}
    >
      <label for={id}>{label}</label>
      <div class="admit-row">
        <input
          id={id}
          type="text"
          dir="ltr"
          inputMode={inputMode}
          autoCapitalize="none"
          autoComplete="off"
          spellcheck={false}
          placeholder={placeholder}
          {...describedBy(hint === undefined ? undefined : hintId, problemId, problem !== undefined)}
          // What is left of the text replaces it at the end.
          readOnly={busy}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button class="button primary" type="submit" aria-disabled={busy || mustWait}>
          {button}
        </button>
      </div>
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
      <Problem id={problemId} text={problem} />
    </form>
  )
}

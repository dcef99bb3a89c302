import { useId } from 'preact/hooks'
import { Problem } from '../components/problem.tsx'

const MAX_LENGTH = 200

interface TextFormProps {
  label: string
  /** The heading above says the same to those who see it. */
  isLabelHidden?: boolean
  button: string
  text: string
  setText: (text: string) => void
  canSave: boolean
  onSave: () => void
  problem: string | undefined
}

/** A form for one line of text, such as a title. */
export function TextForm({ label, isLabelHidden = false, button, text, setText, canSave, onSave, problem }: TextFormProps) {
  const id = useId()
  return (
    <form
      class="admit"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (canSave) onSave()
      }}
    >
      <label class={isLabelHidden ? 'visually-hidden' : undefined} for={id}>
        {label}
      </label>
      <div class="admit-row">
        <input
          id={id}
          type="text"
          dir="auto"
          autoComplete="off"
          maxLength={MAX_LENGTH}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button class="button" type="submit" aria-disabled={!canSave}>
          {button}
        </button>
      </div>
      <Problem text={problem} />
    </form>
  )
}

import { useId } from 'preact/hooks'
import { MAX_NAME_LENGTH } from '../identity/claimed-name.ts'
import { t } from '../text/text.ts'

/** The name under which the visitor is shown in a room with a list. It may be empty. */
export function OwnNameField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>
        {t.sealed.list.yourName((word) => (
          <span class="optional">{word}</span>
        ))}
      </label>
      <input
        id={id}
        type="text"
        dir="auto"
        maxLength={MAX_NAME_LENGTH}
        autoComplete="name"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  )
}

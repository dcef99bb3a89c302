import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  label: string
  hint?: ComponentChildren
  children: (ids: { id: string; 'aria-describedby': string | undefined }) => ComponentChildren
}

/** A label, a control and a hint that belong together. */
function Field({ label, hint, children }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': hint === undefined ? undefined : `${id}-hint` })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps {
  label: string
  hint?: ComponentChildren
  value: string
  onChange: (value: string) => void
  type?: 'text' | 'search' | 'url' | 'email' | 'number' | 'password' | 'date' | 'datetime-local'
  required?: boolean
  maxLength?: number
  min?: number
  max?: number
  placeholder?: string
  /** What the value must match, as HTML has it; `title` says it in words. */
  pattern?: string
  title?: string
}

export function TextField({ label, hint, value, onChange, type = 'text', ...limits }: TextFieldProps) {
  // Preact declares an input for each type, and none for several.
  const attributes: object = { type, ...limits }
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <input
          {...attributes}
          {...ids}
          class="input"
          // Neither a password manager nor a spelling service gets what is typed here.
          autocomplete={type === 'password' ? 'new-password' : 'off'}
          spellcheck={false}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

interface TextAreaProps {
  label: string
  hint?: ComponentChildren
  value: string
  onChange: (value: string) => void
  rows?: number
  code?: boolean
  required?: boolean
  maxLength?: number
}

export function TextArea({ label, hint, value, onChange, rows = 4, code = false, required, maxLength }: TextAreaProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <textarea
          {...ids}
          class={code ? 'input code' : 'input'}
          rows={rows}
          required={required}
          maxLength={maxLength}
          spellcheck={!code}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

interface SelectFieldProps<Value extends string> {
  label: string
  hint?: ComponentChildren
  value: Value
  options: readonly (readonly [value: Value, label: string])[]
  onChange: (value: Value) => void
  /** Whether the empty option does not count as a choice. */
  required?: boolean
}

export function SelectField<Value extends string>({ label, hint, value, options, onChange, required }: SelectFieldProps<Value>) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select
          {...ids}
          class="input"
          value={value}
          required={required}
          onChange={(event) => onChange(event.currentTarget.value as Value)}
        >
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface CheckFieldProps {
  label: string
  checked: boolean
  onChange: (checked: boolean) => void
}

export function CheckField({ label, checked, onChange }: CheckFieldProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  )
}

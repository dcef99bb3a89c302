import type { ComponentChildren } from 'preact'
import { useContext, useId } from 'preact/hooks'
import { FieldErrors } from './field-errors.ts'

interface FieldAttributes {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': 'true' | undefined
}

interface FieldProps {
  label: string
  hint?: ComponentChildren
  /** Where the value is in the body of the call: the field shows the error of this path. */
  path?: string | undefined
  children: (attributes: FieldAttributes) => ComponentChildren
}

/** A label, a control, its error and a hint that belong together. */
function Field({ label, hint, path, children }: FieldProps) {
  const id = useId()
  const { details, shown } = useContext(FieldErrors)
  if (path !== undefined) shown.add(path)
  const error = details.find((detail) => detail.path === path)?.message
  const described = [...(error === undefined ? [] : [`${id}-error`]), ...(hint === undefined ? [] : [`${id}-hint`])]
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': error === undefined ? undefined : 'true',
      })}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
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
  /** Where the value is in the body of the call, such as `/url`. */
  path?: string
}

export function TextField({ label, hint, path, value, onChange, type = 'text', ...limits }: TextFieldProps) {
  // Preact declares an input for each type, and none for several.
  const attributes: object = { type, ...limits }
  return (
    <Field label={label} hint={hint} path={path}>
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

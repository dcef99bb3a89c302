import type { ComponentChildren } from 'preact'
import { useContext, useId } from 'preact/hooks'
import { FieldErrors, isWithin } from './field-errors.ts'

interface FieldAttributes {
  id: string
  ref: (control: { setCustomValidity(problem: string): void } | null) => void
  'aria-describedby': string | undefined
  'aria-invalid': 'true' | undefined
}

interface FieldProps {
  label: string
  hint?: ComponentChildren
  /**
   * Where the value is in the body of the call, such as `/url`: the field shows the errors there. null: the field is in no
   * form, or its value is not sent.
   */
  path: string | null
  /** What the page knows to be wrong with the value. The form is not sent, and the field shows it. */
  problem?: string | undefined
}

/** The error of the field at `path`, and what ties it to the control. */
function useFieldError(path: string | null, hasHint: boolean) {
  const id = useId()
  const { problems, details, shown } = useContext(FieldErrors)
  if (path !== null) shown.add(path)
  const found =
    path === null ? [] : details.filter((detail) => isWithin(path, detail.path)).map(({ message }) => sentence(message))
  const error = problems.get(id) ?? (found.length === 0 ? undefined : found.join(' · '))
  const described = [...(error === undefined ? [] : [`${id}-error`]), ...(hasHint ? [`${id}-hint`] : [])]
  return { id, error, described: described.length === 0 ? undefined : described.join(' ') }
}

/** "is not a key", as the API says after the name of the field: "This is not a key." */
function sentence(message: string): string {
  return /^(?:is|are|must|has|needs) /.test(message) ? `This ${message}${message.endsWith('.') ? '' : '.'}` : message
}

function FieldError({ id, error }: { id: string; error: string | undefined }) {
  if (error === undefined) return null
  return (
    <p class="field-error" id={`${id}-error`}>
      {error}
    </p>
  )
}

/** A label, a control, its error and a hint that belong together. */
function Field({
  label,
  hint,
  path,
  problem,
  children,
}: FieldProps & { children: (attributes: FieldAttributes) => ComponentChildren }) {
  const { id, error, described } = useFieldError(path, hint !== undefined)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ref: (control) => control?.setCustomValidity(problem ?? ''),
        'aria-describedby': described,
        'aria-invalid': error === undefined ? undefined : 'true',
      })}
      <FieldError id={id} error={error} />
      {hint !== undefined && (
        // The hint may be the problem, which is shown while somebody types.
        <p class={hint === error ? 'visually-hidden' : 'hint'} id={`${id}-hint`}>
          {hint === error ? '' : hint}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps extends FieldProps {
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

export function TextField({ label, hint, path, problem, value, onChange, type = 'text', ...limits }: TextFieldProps) {
  // Preact declares an input for each type, and none for several.
  const attributes: object = { type, ...limits }
  return (
    <Field label={label} hint={hint} path={path} problem={problem}>
      {(ids) => (
        <input
          {...attributes}
          {...ids}
          class="input"
          // An address, a number or a date is written from left to right in every language.
          dir={type === 'text' || type === 'search' ? 'auto' : undefined}
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

interface TextAreaProps extends FieldProps {
  value: string
  onChange: (value: string) => void
  rows?: number
  code?: boolean
  required?: boolean
  maxLength?: number
}

export function TextArea({
  label,
  hint,
  path,
  problem,
  value,
  onChange,
  rows = 4,
  code = false,
  required,
  maxLength,
}: TextAreaProps) {
  return (
    <Field label={label} hint={hint} path={path} problem={problem}>
      {(ids) => (
        <textarea
          {...ids}
          class={code ? 'input code' : 'input'}
          dir={code ? undefined : 'auto'}
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

interface SelectFieldProps<Value extends string> extends FieldProps {
  value: Value
  options: readonly (readonly [value: Value, label: string])[]
  onChange: (value: Value) => void
  /** Whether the empty option does not count as a choice. */
  required?: boolean
}

export function SelectField<Value extends string>({
  label,
  hint,
  path,
  problem,
  value,
  options,
  onChange,
  required,
}: SelectFieldProps<Value>) {
  return (
    <Field label={label} hint={hint} path={path} problem={problem}>
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
  path: string | null
  checked: boolean
  onChange: (checked: boolean) => void
}

export function CheckField({ label, path, checked, onChange }: CheckFieldProps) {
  const { id, error, described } = useFieldError(path, false)
  return (
    <div>
      <label class="check">
        <input
          id={id}
          type="checkbox"
          checked={checked}
          aria-describedby={described}
          aria-invalid={error === undefined ? undefined : 'true'}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        {label}
      </label>
      <FieldError id={id} error={error} />
    </div>
  )
}

interface CheckGroupProps {
  class: string
  legend: string
  path: string
  children: ComponentChildren
}

/** Checkboxes that make one value together. */
export function CheckGroup({ class: name, legend, path, children }: CheckGroupProps) {
  const { id, error, described } = useFieldError(path, false)
  return (
    <fieldset class={name} aria-describedby={described} data-invalid={error === undefined ? undefined : ''}>
      <legend>{legend}</legend>
      <FieldError id={id} error={error} />
      {children}
    </fieldset>
  )
}

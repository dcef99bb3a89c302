import { AtriumError } from '@atrium/client/atrium-error'
import { randomId } from '@atrium/room-client/new-room-secret'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { FailureNote } from './failure.tsx'
import { FieldErrors } from './field-errors.ts'
import { findProblems } from './find-problems.ts'

interface FormProps {
  class: string
  /**
   * Sends the form. What it throws is shown at the fields that it names, and the rest above the buttons. The
   * Idempotency-Key is the same for the same values, until they are accepted: an answer may be lost, and what is asked
   * for again must not be made or paid twice. Resolves to 'unsent' if nothing was sent.
   */
  onSubmit: (idempotencyKey: string) => Promise<void | 'unsent'>
  /** The buttons. */
  foot: (isBusy: boolean) => ComponentChildren
  children: ComponentChildren
}

/**
 * Every form of the console. A form with a field that is missing or wrong is not sent. Each such field, and each that
 * the server names, shows its error; the first one gets the focus, so that a screen reader reads the error.
 */
export function Form({ class: name, onSubmit, foot, children }: FormProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const [shown] = useState(() => new Set<string>())
  const [attempts, setAttempts] = useState(0)
  const form = useRef<HTMLFormElement>(null)
  const [keys] = useState(() => new Map<string, string>())
  // The fields are drawn right after the form. Later than that, the focus would take the next key from the field that has it by then.
  useLayoutEffect(() => {
    queueMicrotask(() => {
      const invalid = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid] :is(input, select)')
      invalid?.focus()
    })
  }, [attempts])
  const submit = async (element: HTMLFormElement) => {
    const found = findProblems(element)
    setProblems(found)
    setError(undefined)
    if (found.size > 0) return setAttempts((count) => count + 1)
    setBusy(true)
    const values = valuesOf(element)
    const idempotencyKey = keys.get(values) ?? randomId()
    keys.set(values, idempotencyKey)
    try {
      if ((await onSubmit(idempotencyKey)) !== 'unsent') keys.clear()
    } catch (error) {
      setError(error)
      setAttempts((count) => count + 1)
    } finally {
      setBusy(false)
    }
  }
  /** A field that is being corrected is not wrong any more, until the form is sent again. */
  const forget = ({ target }: Event) => {
    if (!(target instanceof Element) || !problems.has(target.id)) return
    setProblems(new Map([...problems].filter(([id]) => id !== target.id)))
  }
  return (
    <form
      ref={form}
      class={name}
      // The browser's own messages disappear by themselves, and only one is shown at a time.
      noValidate
      onInput={forget}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy) void submit(event.currentTarget)
      }}
    >
      <FieldErrors.Provider value={{ problems, details: error instanceof AtriumError ? error.details : [], shown }}>
        {children}
      </FieldErrors.Provider>
      {error !== undefined && <FailureNote error={error} shown={shown} />}
      <div class="dialog-foot">{foot(isBusy)}</div>
    </form>
  )
}

function valuesOf(form: HTMLFormElement): string {
  // A button is no field, and an error may have one.
  const fields = [...form.elements].filter(({ localName }) => localName !== 'button')
  return JSON.stringify(fields.map((field) => [Reflect.get(field, 'value'), Reflect.get(field, 'checked')]))
}

import { AtriumError } from '@atrium/client/atrium-error'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CurlCall } from '../api/curl.ts'
import { CurlButton } from './curl-button.tsx'
import { Dialog } from './dialog.tsx'
import { FailureNote } from './failure.tsx'
import { FieldErrors } from './field-errors.ts'

interface FormDialogProps {
  title: string
  /** The words of the button that sends the form. */
  action: string
  /** Sends the form. What it throws is shown above the buttons. */
  onSubmit: () => Promise<void>
  onClose: () => void
  /** The call that the form makes, to copy as curl. */
  curl?: () => CurlCall
  layout?: 'centre' | 'side'
  children: ComponentChildren
}

/** A form in a dialog. It stays open with the error of a failed call. */
export function FormDialog({ title, action, onSubmit, onClose, curl, layout, children }: FormDialogProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const [shown] = useState(() => new Set<string>())
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [error])
  const submit = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit()
    } catch (error) {
      setError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose} layout={layout ?? 'centre'}>
      <form
        ref={form}
        class="dialog-body"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void submit()
        }}
      >
        <FieldErrors.Provider value={{ details: error instanceof AtriumError ? error.details : [], shown }}>
          {children}
        </FieldErrors.Provider>
        {error !== undefined && <FailureNote error={error} shown={shown} />}
        <div class="dialog-foot">
          {curl && <CurlButton call={curl} what={action} />}
          <button class="button" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" type="submit" disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

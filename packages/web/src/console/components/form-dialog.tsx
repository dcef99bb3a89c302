import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { CurlCall } from '../api/curl.ts'
import { CurlButton } from './curl-button.tsx'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'

interface FormDialogProps {
  title: string
  /** The words of the button that sends the form. */
  action: string
  /** See Form. */
  onSubmit: (idempotencyKey: string) => Promise<void | 'unsent'>
  onClose: () => void
  /** The call that the form makes, to copy as curl. */
  curl?: () => CurlCall
  layout?: 'centre' | 'side'
  children: ComponentChildren
}

/**
 * A form in a dialog. It stays open with the error of a failed call. While a call is on its way, it cannot be closed:
 * whoever has cancelled does not expect that something is made or paid. A call ends by its own time limit. A form that
 * makes several (recoverAll in webhook-recover-form.tsx) stays until the last one has ended, however many there are.
 */
export function FormDialog({ title, action, onSubmit, onClose, curl, layout, children }: FormDialogProps) {
  const [isBusy, setBusy] = useState(false)
  const submit = async (idempotencyKey: string) => {
    setBusy(true)
    try {
      return await onSubmit(idempotencyKey)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose} layout={layout ?? 'centre'} isBusy={isBusy}>
      <Form
        class="dialog-body"
        onSubmit={submit}
        foot={() => (
          <>
            {curl && <CurlButton call={curl} what={action} />}
            <button class="button" type="button" disabled={isBusy} onClick={onClose}>
              Cancel
            </button>
            <button class="button primary" type="submit" disabled={isBusy}>
              {action}
            </button>
          </>
        )}
      >
        {children}
      </Form>
    </Dialog>
  )
}

import type { ComponentChildren } from 'preact'
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

/** A form in a dialog. It stays open with the error of a failed call. */
export function FormDialog({ title, action, onSubmit, onClose, curl, layout, children }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose} layout={layout ?? 'centre'}>
      <Form
        class="dialog-body"
        onSubmit={onSubmit}
        foot={(isBusy) => (
          <>
            {curl && <CurlButton call={curl} what={action} />}
            <button class="button" type="button" onClick={onClose}>
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

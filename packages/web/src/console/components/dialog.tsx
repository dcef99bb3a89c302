import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { expectFocus, withAncestors } from '../shell/keep-focus.ts'
import { Toasts } from '../shell/toasts.tsx'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: string
  children: ComponentChildren
  onClose: () => void
  /** side: a panel at the edge of a wide screen. */
  layout?: 'centre' | 'side' | 'top'
  /** The title is for screen readers alone. */
  bare?: boolean
  /** false: Escape and a click beside the dialog do not close it, because its content is shown once. */
  closable?: boolean
  /** Its request is on the way: the dialog stays until the answer is there. */
  isBusy?: boolean
}

/** Where a dialog begins for the keyboard: not at the button that closes it. */
const firstControl = '.dialog-inside > :not(.dialog-head) :is(input, select, textarea, button, a[href], [tabindex])'

/**
 * The browser's own modal dialog: it keeps the focus inside and closes on Escape. The focus begins at the first field, and
 * returns to where it was.
 */
export function Dialog({
  title,
  children,
  onClose,
  layout = 'centre',
  bare = false,
  closable = true,
  isBusy = false,
}: DialogProps) {
  const mayClose = closable && !isBusy
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useLayoutEffect(() => {
    const element = dialog.current
    // An action of the dialog may remove what opened it.
    const opener = withAncestors(document.activeElement)
    element?.showModal()
    const first = element?.querySelector<HTMLElement>('[autofocus]') ?? element?.querySelector<HTMLElement>(firstControl)
    first?.focus()
    return () => {
      element?.close()
      expectFocus(opener)
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`dialog ${layout}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        if (mayClose) onClose()
      }}
      // A browser closes a dialog at the second Escape even if its `cancel` event is prevented.
      onKeyDown={(event) => !mayClose && event.key === 'Escape' && event.preventDefault()}
      onClose={() => {
        // Also the one that is removed is closed.
        if (!dialog.current) return
        if (mayClose) onClose()
        // Escape without the focus in the dialog, or the back gesture of a phone.
        else dialog.current.showModal()
      }}
      onMouseDown={(event) => mayClose && event.target === dialog.current && onClose()}
    >
      <div class="dialog-inside">
        <div class={bare ? 'visually-hidden' : 'dialog-head'}>
          <h2 id={titleId}>{title}</h2>
          {!bare && closable && (
            <button class="icon-button" type="button" aria-label="Close" disabled={isBusy} onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </div>
        {children}
      </div>
      <Toasts inDialog={titleId} />
    </dialog>
  )
}

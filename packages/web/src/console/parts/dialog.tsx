import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
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
}

/** The browser's own modal dialog: it keeps the focus inside, closes on Escape and returns the focus. */
export function Dialog({ title, children, onClose, layout = 'centre', bare = false, closable = true }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`dialog ${layout}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        if (closable) onClose()
      }}
      onMouseDown={(event) => closable && event.target === dialog.current && onClose()}
    >
      <div class="dialog-inside">
        <div class={bare ? 'unseen' : 'dialog-head'}>
          <h2 id={titleId}>{title}</h2>
          {!bare && closable && (
            <button class="icon-button" type="button" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </div>
        {children}
      </div>
    </dialog>
  )
}

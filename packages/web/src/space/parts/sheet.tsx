import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { t } from '../text/text.ts'

interface SheetProps {
  title: string
  children: ComponentChildren
  onClose: () => void
}

/**
 * A panel over the room: beside it on a wide screen, over all of it on a phone. The browser's own dialog keeps the
 * focus inside, closes on Escape, and gives the focus back to where it was.
 */
export function Sheet({ title, children, onClose }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const isMounted = useRef(true)
  const titleId = useId()
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    heading.current?.focus()
    return () => {
      isMounted.current = false
      element?.close()
    }
  }, [])
  return (
    <dialog
      class="sheet"
      ref={dialog}
      aria-labelledby={titleId}
      // It comes late: where one sheet gave way to another, it must not close that one.
      onClose={() => isMounted.current && onClose()}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="sheet-inside">
        <header class="sheet-head">
          <h2 id={titleId} ref={heading} tabIndex={-1}>
            {title}
          </h2>
          <button class="icon-button" type="button" aria-label={t.close} onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        <div class="sheet-body">{children}</div>
      </div>
    </dialog>
  )
}

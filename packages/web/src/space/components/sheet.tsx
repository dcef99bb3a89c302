import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Announcer } from './announcer.tsx'
import { Icon } from './icon.tsx'
import { keepFocus } from './keep-focus.ts'
import { PageBanners } from './page-banners.tsx'
import { t } from '../text/text.ts'

interface SheetProps {
  title: string
  children: ComponentChildren
  onClose: () => void
  /** On a wide screen, the sheet is beside the conversation, which stays usable. */
  docks?: boolean
}

/**
 * A panel over the room, which fills a phone's screen. The browser's own dialog element keeps the focus inside,
 * closes on Escape and returns the focus. A docked sheet is a dialog that is not modal.
 */
export function Sheet({ title, children, onClose, docks = false }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const isMounted = useRef(true)
  const titleId = useId()
  useLayoutEffect(() => {
    const [element, top] = [dialog.current, heading.current]
    if (!element || !top) return undefined
    // As wide as the style sheet says.
    const wide = matchMedia('(min-width: 1100px)')
    const open = () => {
      element.close()
      element.classList.toggle('docked', docks && wide.matches)
      if (docks && wide.matches) element.show()
      else element.showModal()
      top.focus()
    }
    const release = keepFocus(element, top)
    open()
    if (docks) wide.addEventListener('change', open)
    return () => {
      isMounted.current = false
      release()
      wide.removeEventListener('change', open)
      element.close()
    }
  }, [])
  return (
    <dialog
      class="sheet"
      ref={dialog}
      aria-labelledby={titleId}
      // The close event arrives late. If another sheet has replaced this one, or this one was reopened docked or
      // undocked, it must not close the new one.
      onClose={() => isMounted.current && !dialog.current?.open && onClose()}
      onKeyDown={(event) => {
        // A modal one does so by itself.
        if (event.key === 'Escape' && dialog.current?.classList.contains('docked')) dialog.current.close()
      }}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="sheet-inside">
        {/* Not a header: the room's own is the page's one banner. */}
        <div class="sheet-head">
          <h2 id={titleId} ref={heading} tabIndex={-1}>
            {title}
          </h2>
          <button class="icon-button" type="button" aria-label={t.close} onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </div>
        {/* Reachable with the keyboard: a list of people may be long and have nothing in it that takes the focus. */}
        <div class="sheet-body" tabIndex={0}>
          <PageBanners />
          {children}
        </div>
      </div>
      <Announcer />
    </dialog>
  )
}

import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface ConfirmProps {
  /** The question, for a screen reader. */
  label: string
  /** What the answer "yes" does. */
  children: ComponentChildren
  yes: string
  no: string
  /** In a row or under a message. */
  small?: boolean
  class?: string
  /** The visitor has said yes before. */
  busy?: boolean
  onYes: () => void
  /** Also by the Escape key. The caller returns the focus. */
  onNo: () => void
}

/** Asks before something that cannot be undone. The focus is on "no". */
export function Confirm({ label, children, yes, no, small = false, class: className, busy = false, onYes, onNo }: ConfirmProps) {
  const group = useRef<HTMLDivElement>(null)
  const cancel = useRef<HTMLButtonElement>(null)
  const textId = useId()
  useLayoutEffect(() => {
    cancel.current?.focus()
    group.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <div
      class={className === undefined ? 'confirm' : `confirm ${className}`}
      role="group"
      aria-label={label}
      ref={group}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        // Otherwise it would also close the panel. A modal one closes by the default action.
        event.preventDefault()
        event.stopPropagation()
        if (!busy) onNo()
      }}
    >
      <div class="confirm-text" id={textId}>
        {children}
      </div>
      <div class="buttons">
        <button
          class={small ? 'button small danger' : 'button danger'}
          type="button"
          aria-disabled={busy}
          onClick={() => !busy && onYes()}
        >
          {yes}
        </button>
        <button
          class={small ? 'button small' : 'button'}
          type="button"
          ref={cancel}
          aria-describedby={textId}
          aria-disabled={busy}
          onClick={() => !busy && onNo()}
        >
          {no}
        </button>
      </div>
    </div>
  )
}

/** Whether a button asks. `end` returns the focus to it. */
export function useAsking() {
  const [asking, setAsking] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const end = () => {
    setAsking(false)
    opener.current?.focus()
  }
  return { asking, opener, ask: () => setAsking(true), end }
}

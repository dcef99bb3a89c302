import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Entry } from '@atrium/room-client/space-ops'
import type { RoomSession } from '../room/room-session.ts'

export interface Draft {
  readonly text: string
  readonly replyTo?: Entry
}

/**
 * The unsent text and the message that it replies to. Every key press stores them on this device, and the next visit
 * restores them.
 */
export function useDraft(session: RoomSession, replyTo: Entry | undefined, onReplyTo: (entry: Entry | undefined) => void) {
  const [text, setText] = useState('')
  const latest = useRef<{ text: string; replyTo: Entry | undefined; isRestored: boolean }>({ text, replyTo, isRestored: false })
  const keep = (text: string, replyTo: Entry | undefined) => {
    Object.assign(latest.current, { text, replyTo })
    if (text === '' && !replyTo) void session.vault.remove('draft')
    else void session.vault.write('draft', { text, ...(replyTo && { replyTo }) } satisfies Draft)
  }
  useLayoutEffect(() => {
    void session.vault.read<Draft>('draft').then((draft) => {
      latest.current.isRestored = true
      if (!draft) return
      // Keeps text that was entered before the storage answered.
      setText((typed) => (typed === '' ? draft.text : `${draft.text}\n${typed}`))
      if (draft.replyTo) onReplyTo(draft.replyTo)
    })
  }, [session])
  useLayoutEffect(() => {
    const { current } = latest
    if (current.isRestored && (current.text !== text || current.replyTo !== replyTo)) keep(text, replyTo)
  }, [text, replyTo])
  const write = useCallback((next: string) => {
    // Not in an effect, because the page may be closed between the key press and the effect.
    if (latest.current.isRestored) keep(next, latest.current.replyTo)
    setText(next)
  }, [])
  return [text, write] as const
}

import type { Ref } from 'preact'
import { useImperativeHandle, useLayoutEffect, useRef } from 'preact/hooks'
import type { Entry } from '@atrium/room-client/space-ops'
import { announce } from '../components/announcer.tsx'
import { authorName } from '../components/authors.ts'
import { Icon } from '../components/icon.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { focusMessages } from './message-keys.ts'
import { snippet } from './quote.tsx'
import { useDraft } from './use-draft.ts'
import { WritingAs } from './writing-as.tsx'
import { t } from '../text/text.ts'

export interface ComposerHandle {
  focus(): void
  /** Inserts a message that was taken back before the unsent text. */
  put(text: string): void
}

interface ComposerProps {
  session: RoomSession
  handle: Ref<ComposerHandle>
  replyTo: Entry | undefined
  onReplyTo: (entry: Entry | undefined) => void
  onChangeName: () => void
}

/** The name and the keys of the author. */
const DESCRIPTIONS = ['composer-hint', 'composer-keys']
const MAX_BYTES = 16_384
const WARN_BYTES = 14_000

export function Composer({ session, handle, replyTo, onReplyTo, onChangeName }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useDraft(session, replyTo, onReplyTo)
  const bytes = text.length * 3 > WARN_BYTES ? new TextEncoder().encode(text).length : 0
  const canSend = text.trim() !== '' && bytes <= MAX_BYTES
  useImperativeHandle(handle, () => ({
    focus: () => field.current?.focus(),
    put: (taken) => {
      setText(field.current?.value ? `${taken}\n\n${field.current.value}` : taken)
      field.current?.focus()
    },
  }))
  // With the field itself: a focus that moves later would take the next key from the control that has it by then.
  useLayoutEffect(() => {
    // On a phone, the keyboard would cover the messages.
    if (matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [])
  useGrowingField(field, text)
  const send = () => {
    field.current?.focus()
    if (!canSend) return
    session.sender.send(text.trim(), replyTo?.id)
    setText('')
    onReplyTo(undefined)
    announce(t.messages.written)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method is composing, Enter ends a word and does not send the message. In Safari, the composing is
    // over before this key comes, with the code 229.
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      send()
    } else if (event.key === 'ArrowUp' && text === '') {
      event.preventDefault()
      focusMessages()
    } else if (event.key === 'Escape' && replyTo) {
      onReplyTo(undefined)
    }
  }
  return (
    <form
      class="composer"
      aria-label={t.messages.write}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {replyTo && <ReplyingTo entry={replyTo} onCancel={() => onReplyTo(undefined)} />}
      <div class="composer-row">
        <label class="visually-hidden" for="message">
          {t.messages.message}
        </label>
        <textarea
          id="message"
          ref={field}
          rows={1}
          dir="auto"
          enterkeyhint="send"
          placeholder={t.messages.placeholder}
          aria-describedby={DESCRIPTIONS.join(' ')}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button class="send" type="submit" aria-label={t.messages.send} aria-disabled={!canSend}>
          <Icon name="send" />
        </button>
      </div>
      <p class="composer-foot">
        <WritingAs session={session} onChangeName={onChangeName} />
        {bytes > WARN_BYTES ? (
          <span class={bytes > MAX_BYTES ? 'problem' : undefined} role="status">
            {bytes > MAX_BYTES ? t.messages.bytesTooMany(bytes - MAX_BYTES) : t.messages.bytesLeft(MAX_BYTES - bytes)}
          </span>
        ) : (
          <span class="keys" id={DESCRIPTIONS[1]}>
            {t.messages.composerKeys((key) => (
              <kbd>{key}</kbd>
            ))}
          </span>
        )}
      </p>
    </form>
  )
}

function ReplyingTo({ entry, onCancel }: { entry: Entry; onCancel: () => void }) {
  const name = authorName(entry.author)
  return (
    <div class="replying-to">
      <p>
        <span class="replying-name">{t.messages.replyingTo(<bdi class="quote-name">{name}</bdi>)}</span>
        <span class="quote-text" dir="auto">
          {snippet(entry.message.text)}
        </span>
      </p>
      <button class="icon-button" type="button" aria-label={t.messages.cancelReply} onClick={onCancel}>
        <Icon name="close" />
      </button>
    </div>
  )
}

/**
 * Makes the field as tall as its text, up to the limit of the style sheet. Browsers with field-sizing need no script
 * for this.
 */
function useGrowingField(field: { current: HTMLTextAreaElement | null }, text: string): void {
  useLayoutEffect(() => {
    const element = field.current
    if (!element || CSS.supports('field-sizing', 'content')) return
    element.style.blockSize = 'auto'
    element.style.blockSize = `${element.scrollHeight + 2}px`
  }, [text])
}

import { useLayoutEffect } from 'preact/hooks'
import { useStore } from '../../space/use-store.ts'
import { FailureFacts } from '../components/failure.tsx'
import { Icon } from '../components/icon.tsx'
import { addToastPlace, removeToast, toastStore } from './toast-store.ts'

/**
 * The messages in the corner. A modal dialog covers the rest of the page and makes it inert, so each dialog has this
 * element too, and the messages are in the newest. It is there from the start, because a live region must be.
 */
export function Toasts({ inDialog = '' }: { inDialog?: string }) {
  useLayoutEffect(() => addToastPlace(inDialog), [])
  const isShown = useStore(toastStore, ({ places }) => places.at(-1) === inDialog)
  const toasts = useStore(toastStore, (value) => value.toasts)
  return (
    <div class="toasts" role="status" aria-live="polite" aria-atomic="false">
      {(isShown ? toasts : []).map(({ id, text, error, action }) => (
        <div key={id} class={error === undefined ? 'toast' : 'toast bad'}>
          <div class="toast-text">
            <p>{text}</p>
            {error !== undefined && <FailureFacts error={error} />}
          </div>
          {action && (
            <button
              class="button small"
              type="button"
              onClick={() => {
                removeToast(id)
                action.run()
              }}
            >
              {action.label}
            </button>
          )}
          <button class="icon-button" type="button" aria-label="Close the message" onClick={() => removeToast(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}

import { useStore } from '../../space/use-store.ts'
import { FailureFacts } from '../parts/failure.tsx'
import { Icon } from '../parts/icon.tsx'
import { removeToast, toastStore } from './toast-store.ts'

/** The messages in the corner of the page. The element is there from the start, because a live region must be. */
export function Toasts() {
  const toasts = useStore(toastStore, (value) => value.toasts)
  return (
    <div class="toasts" role="status" aria-live="polite" aria-atomic="false">
      {toasts.map(({ id, text, error }) => (
        <div key={id} class={error === undefined ? 'toast' : 'toast bad'}>
          <div class="toast-text">
            <p>{text}</p>
            {error !== undefined && <FailureFacts error={error} />}
          </div>
          <button class="icon-button" type="button" aria-label="Close the message" onClick={() => removeToast(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}

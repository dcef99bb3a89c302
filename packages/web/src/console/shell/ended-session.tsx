import { useLayoutEffect, useRef } from 'preact/hooks'
import { useStore } from '../../space/use-store.ts'
import { personOf, loadSession, sessionStore } from '../api/session.ts'
import { SignIn } from './sign-in.tsx'
import { toastStore } from './toast-store.ts'

/**
 * Covers the console when its session has ended, until somebody has signed in, for example in another tab. This is a
 * modal dialog, because it must also cover a form that is one.
 */
export function EndedSession() {
  const dialog = useRef<HTMLDialogElement>(null)
  // A dialog that opens later, such as one with the secret of a late answer, would be in front of this one.
  const places = useStore(toastStore, (value) => value.places)
  useLayoutEffect(() => {
    dialog.current?.close()
    dialog.current?.showModal()
  }, [places])
  // Before the dialog can be used: the first Escape is prevented too.
  useLayoutEffect(() => {
    const look = () => {
      if (document.hidden) return
      loadSession().then(
        (session) => {
          if (!session) return
          const before = sessionStore.value.session
          if (before && personOf(before) === personOf(session)) sessionStore.update({ session, ended: false })
          else startAnew()
        },
        // The next look may succeed.
        () => undefined,
      )
    }
    // Somebody may have signed in since the last request of this page.
    look()
    // A browser closes a dialog at the second Escape even if its `cancel` event is prevented. The next Escape would
    // close the form below.
    const stay = (event: KeyboardEvent) => event.key === 'Escape' && event.preventDefault()
    addEventListener('keydown', stay)
    addEventListener('focus', look)
    document.addEventListener('visibilitychange', look)
    return () => {
      removeEventListener('keydown', stay)
      removeEventListener('focus', look)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="ended alone"
      aria-label="Your session has ended"
      onCancel={(event) => event.preventDefault()}
      // The back gesture of a phone.
      onClose={() => dialog.current?.showModal()}
    >
      <SignIn ended session={undefined} onSignedIn={startAnew} onStay={() => undefined} />
    </dialog>
  )
}

/** Reloads the page, so that an open question, an undo action or a secret of the previous person is gone. */
function startAnew(): void {
  location.replace(location.pathname + location.search)
}

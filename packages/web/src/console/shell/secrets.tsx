import { currentSession } from '../api/api.ts'
import { type ConsoleSession, personOf } from '../api/session.ts'
import { SecretDialog, type ShownSecret } from '../components/secret-dialog.tsx'
import { Store } from '../../space/store.ts'
import { useStore } from '../../space/use-store.ts'

interface Waiting extends ShownSecret {
  id: number
  /** Another member may have signed in since the secret was asked for. */
  person: string
}

const store = new Store<{ waiting: readonly Waiting[] }>({ waiting: [] })
let nextId = 0

/**
 * Returns a function that shows secrets that the server returns once, on whichever page the person is by then: an answer
 * may arrive after its page was left.
 */
export function useSecrets(): (secret: ShownSecret) => void {
  const person = personOf(currentSession())
  return (secret) => {
    // The form that asked for it is gone by then, and the focus is back where it was: it returns there from the secret.
    queueMicrotask(() => store.update({ waiting: [...store.value.waiting, { ...secret, id: nextId++, person }] }))
  }
}

/** The place where secrets are shown, one after the other. */
export function Secrets({ session }: { session: ConsoleSession }) {
  const waiting = useStore(store, (value) => value.waiting)
  const shown = waiting.find(({ person }) => person === personOf(session))
  if (!shown) return null
  const close = () => {
    store.update({ waiting: store.value.waiting.filter((one) => one !== shown) })
    shown.onDone?.()
  }
  return <SecretDialog key={shown.id} {...shown} onClose={close} />
}

import { useEffect, useState } from 'preact/hooks'
import { loadSession, personOf, sessionStore } from './api/session.ts'
import { FailureNote } from './components/failure.tsx'
import { Loading } from './components/loading.tsx'
import { EndedSession } from './shell/ended-session.tsx'
import { Shell } from './shell/shell.tsx'
import { isForSignIn, SignIn } from './shell/sign-in.tsx'
import { Toasts } from './shell/toasts.tsx'
import { useStore } from '../space/use-store.ts'

/** The console for whoever is signed in, or the page that says how to sign in. */
export function App() {
  const { session, ended } = useStore(sessionStore, (value) => value)
  const [state, setState] = useState<{ isLoading: boolean; error?: unknown }>({ isLoading: true })
  const load = () => {
    setState({ isLoading: true })
    loadSession().then(
      (found) => {
        sessionStore.update({ session: found, ended: false })
        setState({ isLoading: false })
      },
      (error: unknown) => setState({ isLoading: false, error }),
    )
  }
  useEffect(load, [])
  // Also where somebody is signed in: the new session may be for another tenant, or for an operator.
  const [isSigningIn, setSigningIn] = useState(isForSignIn)
  const openNew = () => {
    sessionStore.update({ session: undefined, ended: false })
    setSigningIn(false)
    load()
  }
  return (
    <>
      {session && !isSigningIn ? (
        <>
          {/* `key` keeps what was typed if the session ends and the same person signs in again. */}
          <Shell key={personOf(session)} session={session} />
          {ended && <EndedSession />}
        </>
      ) : (
        <main class="alone">
          {state.error !== undefined ? (
            <FailureNote error={state.error} onRetry={load} />
          ) : state.isLoading ? (
            <Loading />
          ) : (
            <SignIn ended={ended} session={ended ? undefined : session} onSignedIn={openNew} onStay={() => setSigningIn(false)} />
          )}
        </main>
      )}
      <Toasts />
    </>
  )
}

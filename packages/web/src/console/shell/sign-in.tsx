import { useEffect, useState } from 'preact/hooks'
import { ArchMark } from '../../space/parts/arch.tsx'
import { loadSignInWays, signIn } from '../api/session.ts'
import { FailureNote } from '../parts/failure.tsx'

const LINK = /^#link=([A-Za-z0-9_-]{1,200})$/

/**
 * The secret of a one-time link, from the fragment of the address. It is taken out of the address at once, so that it
 * is neither in the history nor in a screenshot.
 */
const linkSecret = LINK.exec(location.hash)?.[1]
if (linkSecret !== undefined) history.replaceState(null, '', location.pathname)

/** Why the sign-in at the identity provider did not succeed, as the server says in the address. */
const problems: Readonly<Record<string, string>> = {
  not_a_member: 'This account belongs to no member. Ask an owner of the tenant for an invitation.',
  invitation_invalid:
    'The invitation has ended, or is for another address than that of your account. Open it again, or ask for a new one.',
  failed: 'The sign-in did not succeed. Try again.',
}
const problem = problems[new URLSearchParams(location.search).get('sign_in') ?? '']

/** `ended`: a session ended while the console was open. */
export function SignIn({ ended, onSignedIn }: { ended: boolean; onSignedIn: () => void }) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const [isSpent, setSpent] = useState(false)
  const [ways, setWays] = useState({ oidc: false, development: false })
  useEffect(() => {
    // Without the answer, a link still signs in.
    loadSignInWays().then(setWays, () => undefined)
  }, [])
  // Only a click uses the link up: programs that preview links do not click.
  const open = async (secret: string) => {
    setBusy(true)
    setError(undefined)
    try {
      const accountsAt = await signIn(secret)
      if (accountsAt !== undefined) return location.assign(accountsAt)
      setSpent(true)
      onSignedIn()
    } catch (error) {
      setError(error)
      setBusy(false)
    }
  }
  return (
    <div class="sign-in">
      <p class="brand">
        <ArchMark />
        Atrium
      </p>
      <h1>{ended ? 'Your session has ended' : 'Sign in to the console'}</h1>
      {problem !== undefined && <p role="alert">{problem}</p>}
      {error !== undefined && <FailureNote error={error} />}
      {linkSecret !== undefined && !isSpent ? (
        <>
          <p>This one-time link opens the console in this browser.</p>
          <button class="button primary wide" type="button" disabled={isBusy} onClick={() => void open(linkSecret)}>
            Open the console
          </button>
        </>
      ) : (
        <>
          {ways.oidc && (
            <a class="button primary wide" href="/console/oidc/start">
              {ways.development ? 'Sign in for development' : 'Sign in with your account'}
            </a>
          )}
          {ways.development && (
            <p>
              The development sign-in accepts the address of every member without a check, on this machine only. An owner invites
              members on the page Members.
            </p>
          )}
          <p>
            Open a one-time link: the start of a development server prints one, and <code>atrium console-link</code> makes one. It
            is valid for 10 minutes.
          </p>
        </>
      )}
    </div>
  )
}

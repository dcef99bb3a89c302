import { AtriumError } from '@atrium/client/atrium-error'
import { useEffect, useState } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
import { ArchMark } from '../../space/components/arch.tsx'
import { type ConsoleSession, type LinkTarget, loadLinkTarget, loadSignInWays, signIn, sessionStore } from '../api/session.ts'
import { FailureNote } from '../components/failure.tsx'
import { Loading } from '../components/loading.tsx'
import { navigate } from '../router/router.tsx'
import { useStore } from '../../space/use-store.ts'
import { atriumCommand, Command, linkCommand } from './link-command.tsx'

const LINK = /^#link=([A-Za-z0-9_-]{1,200})$/

/**
 * The secret of a one-time link, from the fragment of the address. It is taken out of the address at once, so that it
 * is neither in the history nor in a screenshot.
 */
let linkSecret = LINK.exec(location.hash)?.[1]
if (linkSecret !== undefined) history.replaceState(null, '', location.pathname)
// In a tab that shows the console, a browser does not load the page again for an address with another fragment.
addEventListener('hashchange', () => {
  if (LINK.test(location.hash)) location.reload()
})

const START = '/console/oidc/start'
/** Another site has led here to begin a sign-in, and the server has answered with this page, where only a click begins it. */
const isLedHere = location.pathname === START
/** With the tenant that it names. */
const startAt = isLedHere ? START + location.search : START
if (isLedHere) navigate('/', { replace: true })

/** Whether the page was opened to sign in: with a one-time link, or by another site. */
export const isForSignIn = linkSecret !== undefined || isLedHere

/** Why the sign-in at the identity provider did not succeed, as the server says in the address. */
const problems: Readonly<Record<string, string>> = {
  not_a_member:
    'This account belongs to no member. If you are invited, open the link of your invitation; an owner of the tenant makes it.',
  invitation_invalid:
    'The invitation has ended, or is for another address than that of your account. Open it again, or ask for a new one.',
  tenant_suspended: 'The tenant of this account is suspended. Contact the operator of this installation.',
  failed: 'The sign-in did not succeed. Try again.',
}
const problem = problems[new URLSearchParams(location.search).get('sign_in') ?? '']

interface SignInProps {
  /** A session ended while the console was open. */
  ended: boolean
  /** The session of this browser; undefined: none. */
  session: ConsoleSession | undefined
  onSignedIn: () => void
  /** The session is kept, and the link is not used. */
  onStay: () => void
}

export function SignIn({ ended, session, onSignedIn, onStay }: SignInProps) {
  // Only while the page is open: the browser stores nothing about who was signed in.
  const { session: endedSession, left } = useStore(sessionStore, (value) => value)
  const former = ended ? endedSession : left?.session
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const [secret, setSecret] = useState(linkSecret)
  const [target, setTarget] = useState<LinkTarget>()
  // A form of the page below, with what was typed.
  const [keepsForm] = useState(() => ended && document.querySelector('.shell form') !== null)
  const [ways, setWays] = useState({ oidc: false, development: false })
  useEffect(() => {
    // Without the answer, a link still signs in.
    loadSignInWays().then(setWays, () => undefined)
  }, [])
  // This page is shown again when the session ends.
  const forgetLink = () => {
    linkSecret = undefined
    setSecret(undefined)
  }
  const fail = (error: unknown) => {
    setError(error)
    setBusy(false)
    if (error instanceof AtriumError && error.code === 'console_link_invalid') forgetLink()
  }
  // Somebody else may have made the link, so nobody uses it before they know what it opens.
  const readLink = () => {
    if (secret === undefined) return
    setError(undefined)
    loadLinkTarget(secret).then(setTarget, fail)
  }
  useEffect(readLink, [])
  // Only a click uses the link up: programs that preview links do not click.
  const open = async (secret: string) => {
    setBusy(true)
    setError(undefined)
    try {
      const accountsAt = await signIn(secret)
      if (accountsAt !== undefined) return location.assign(accountsAt)
      forgetLink()
      onSignedIn()
    } catch (error) {
      fail(error)
    }
  }
  return (
    <div class="sign-in">
      <p class="brand">
        <ArchMark />
        Atrium
      </p>
      <h1>{ended ? 'Your session has ended' : 'Sign in to the console'}</h1>
      {keepsForm && <p>What you have typed is kept in this tab. Sign in in another tab, then come back.</p>}
      {left?.everywhere && <p role="status">You are signed out in every browser.</p>}
      {problem !== undefined && <p role="alert">{problem}</p>}
      {error !== undefined && <FailureNote error={error} onRetry={secret === undefined || target ? undefined : readLink} />}
      {secret !== undefined ? (
        <>
          {target ? (
            <>
              <TargetText target={target} session={session} />
              <button class="button primary wide" type="button" disabled={isBusy} onClick={() => void open(secret)}>
                Open the console
              </button>
            </>
          ) : (
            error === undefined && <Loading />
          )}
          {session && (
            <button class="button wide" type="button" disabled={isBusy} onClick={() => (forgetLink(), onStay())}>
              Stay signed in
            </button>
          )}
        </>
      ) : session && isLedHere ? (
        <>
          <p>This browser is signed in as {nameOf(session)}. That session ends when you sign in.</p>
          <AccountLink ways={ways} />
          <button class="button wide" type="button" onClick={onStay}>
            Stay signed in
          </button>
        </>
      ) : session ? (
        <button class="button primary wide" type="button" onClick={onStay}>
          Back to the console
        </button>
      ) : (
        <>
          <AccountLink ways={ways} inNewTab={keepsForm} />
          {ways.development && (
            <p>
              The development sign-in accepts the address of every member without a check, on this machine only. An owner invites
              members on the page Members. Their first sign-in is with the link of the invitation.
            </p>
          )}
          <p>
            To sign in, open a one-time link. It is valid for 10 minutes. A development server prints one when it starts. The
            operator creates one with{' '}
            {former ? (
              <>
                <Command text={linkCommand(former)} />.
              </>
            ) : (
              <>
                <Command text={`${atriumCommand(ways.development)} console-link --tenant ID`} />. Without{' '}
                <Command text="--tenant ID" />, the command lists the commands for up to 20 tenants.
              </>
            )}
          </p>
        </>
      )}
    </div>
  )
}

interface AccountLinkProps {
  ways: { oidc: boolean; development: boolean }
  inNewTab?: boolean
}

function AccountLink({ ways: { oidc, development }, inNewTab = false }: AccountLinkProps) {
  if (!oidc) return null
  return (
    <a class="button primary wide" href={startAt} {...(inNewTab && { target: '_blank', rel: 'noopener' })}>
      {development ? 'Sign in for development' : 'Sign in with your account'}
    </a>
  )
}

interface TargetTextProps {
  target: LinkTarget
  session: ConsoleSession | undefined
}

function TargetText({ target: { tenant, role, email }, session }: TargetTextProps) {
  return (
    <>
      {!tenant ? (
        <p>This one-time link opens the console of the operator.</p>
      ) : email === null ? (
        <p>
          This one-time link opens the console of <bdi>{tenant.name}</bdi> as an {role}.
        </p>
      ) : (
        <p>
          This invitation is for <bdi>{email}</bdi>, with the role {role} at <bdi>{tenant.name}</bdi>.
        </p>
      )}
      {session && (
        <p>
          This browser is signed in as {nameOf(session)}. That session ends when you open the console.{' '}
          {tenant && session.tenant && tenant.id !== session.tenant.id && <strong>The link is for another tenant.</strong>}
        </p>
      )}
    </>
  )
}

function nameOf({ tenant, member, role }: ConsoleSession): string {
  if (!tenant) return 'an operator'
  return member ? `${member.email} at ${isolated(tenant.name)}` : `an ${role ?? 'owner'} of ${isolated(tenant.name)}`
}

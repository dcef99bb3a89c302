import { useState } from 'preact/hooks'
import type { SpaceConfig } from '../config.ts'
import { beginSignIn } from '../identity/sign-in.ts'

interface SignInButtonProps {
  config: SpaceConfig | undefined
  primary?: boolean
  /** Runs before the page is left. */
  onLeave?: () => void
}

/** Leaves for the identity provider, and comes back to this room. */
export function SignInButton({ config, primary = false, onLeave }: SignInButtonProps) {
  const [problem, setProblem] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const identity = config?.identity
  if (config && !identity) return <p class="hint">This service has no sign-in set up. Whoever runs it can add one.</p>
  const signIn = () => {
    if (!identity) return
    setLeaving(true)
    setProblem(false)
    onLeave?.()
    beginSignIn(identity).catch(() => {
      setLeaving(false)
      setProblem(true)
    })
  }
  return (
    <>
      <button class={primary ? 'button primary' : 'button'} type="button" disabled={!identity || leaving} onClick={signIn}>
        {identity ? `Sign in with ${identity.label}` : 'Sign in'}
      </button>
      {identity?.development && <p class="hint">A provider for trying things out: it believes any address you type.</p>}
      {problem && (
        <p class="problem" role="alert">
          The identity provider does not answer. Try again in a moment.
        </p>
      )}
    </>
  )
}

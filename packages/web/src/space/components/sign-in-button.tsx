import { useState } from 'preact/hooks'
import type { SpaceConfig } from '../config.ts'
import { beginSignIn } from '../identity/sign-in.ts'
import { t } from '../text/text.ts'

interface SignInButtonProps {
  config: SpaceConfig | undefined
  primary?: boolean
  /** Runs before the page is left. */
  onLeave?: () => void
  /** For one room with a list: its token names the device's key there. */
  inRoom?: { room: string; nonce: string } | undefined
}

/** Redirects to the identity provider, which returns to this room. */
export function SignInButton({ config, primary = false, onLeave, inRoom }: SignInButtonProps) {
  const [problem, setProblem] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const identity = config?.identity
  if (config && !identity) return <p class="hint">{t.signIn.missing}</p>
  const signIn = () => {
    if (!identity) return
    setLeaving(true)
    setProblem(false)
    onLeave?.()
    beginSignIn(identity, inRoom).catch(() => {
      setLeaving(false)
      setProblem(true)
    })
  }
  return (
    <>
      <button class={primary ? 'button primary' : 'button'} type="button" disabled={!identity || leaving} onClick={signIn}>
        {identity ? t.signIn.with(identity.label) : t.signIn.plain}
      </button>
      {identity?.development && <p class="hint">{t.signIn.development}</p>}
      {problem && (
        <p class="problem" role="alert">
          {t.signIn.unreachable}
        </p>
      )}
    </>
  )
}

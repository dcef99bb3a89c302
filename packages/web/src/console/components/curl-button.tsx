import { currentSession } from '../api/api.ts'
import { curlOf, type CurlCall } from '../api/curl.ts'
import { copyText } from './copy.tsx'
import { Icon } from './icon.tsx'
import { showToast } from '../shell/toast-store.ts'

interface CurlButtonProps {
  /** Makes the call when the button is pressed. */
  call: () => CurlCall
  what: string
  /** Says what it does in words, where no action is beside it. */
  isNamed?: boolean
}

/** Copies the call of the action beside it as a curl command. */
export function CurlButton({ call, what, isNamed = false }: CurlButtonProps) {
  const credential =
    currentSession().kind === 'operator' ? "$ATRIUM_ADMIN_TOKEN is an operator's token." : '$ATRIUM_KEY is a secret key.'
  const copy = async () => {
    let command: string
    try {
      command = await curlOf(call())
    } catch {
      return showToast('The command cannot be made: a field is missing or wrong.')
    }
    await copyText(command, `Copied as curl. ${credential}`)
  }
  return (
    <button
      class={isNamed ? 'button small' : 'icon-button'}
      type="button"
      aria-label={`Copy as curl: ${what}`}
      title={`Copy as curl: ${what}`}
      onClick={() => void copy()}
    >
      <Icon name="terminal" />
      {isNamed && `Copy as curl: ${what}`}
    </button>
  )
}

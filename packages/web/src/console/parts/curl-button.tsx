import { currentSession } from '../api/api.ts'
import { curlOf, type CurlCall } from '../api/curl.ts'
import { copyText } from './copy.tsx'
import { Icon } from './icon.tsx'

/** Copies the call of the action beside it as a curl command. `calls` makes it when the button is pressed. */
export function CurlButton({ call, what }: { call: () => CurlCall; what: string }) {
  const credential =
    currentSession().kind === 'operator' ? "$ATRIUM_ADMIN_TOKEN is an operator's token." : '$ATRIUM_KEY is a secret key.'
  const copy = async () => void (await copyText(await curlOf(call()), `Copied as curl. ${credential}`))
  return (
    <button
      class="icon-button"
      type="button"
      aria-label={`Copy as curl: ${what}`}
      title={`Copy as curl: ${what}`}
      onClick={() => void copy()}
    >
      <Icon name="terminal" />
    </button>
  )
}

import { useRef, useState } from 'preact/hooks'
import { writeClipboard } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { CheckField } from './fields.tsx'
import { Icon } from './icon.tsx'

export interface ShownSecret {
  title: string
  /** Each secret with what it is. */
  secrets: readonly (readonly [label: string, secret: string])[]
  /** What the secret opens, and where to keep it. */
  text: string
  /** What the reader confirms before the dialog closes. */
  confirmation?: string
  /** Called when the reader has stored it. */
  onDone?: () => void
}

/** Shows secrets that the server returns once. It closes only after the reader says that they are stored. */
export function SecretDialog({
  title,
  secrets,
  text,
  confirmation = 'I have stored it. It is not shown again.',
  onClose,
}: ShownSecret & { onClose: () => void }) {
  const [isStored, setStored] = useState(false)
  return (
    <Dialog title={title} onClose={onClose} closable={false}>
      <div class="dialog-body">
        <p>{text}</p>
        {secrets.map(([label, secret], at) => (
          <Secret key={label} label={label} secret={secret} isFirst={at === 0} />
        ))}
        <CheckField label={confirmation} path={null} checked={isStored} onChange={setStored} />
        <div class="dialog-foot">
          <button class="button primary" type="button" disabled={!isStored} onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  )
}

/** A secret with a button that copies it. The result is shown at the button: the secret is not shown again. */
function Secret({ label, secret, isFirst }: { label: string; secret: string; isFirst: boolean }) {
  const [result, setResult] = useState<'copied' | 'refused'>()
  const text = useRef<HTMLElement>(null)
  const copy = async () => {
    // The same result twice is announced twice.
    setResult(undefined)
    const isCopied = await writeClipboard(secret)
    setResult(isCopied ? 'copied' : 'refused')
    if (!isCopied && text.current) getSelection()?.selectAllChildren(text.current)
  }
  return (
    <div class="secret">
      <span>{label}</span>
      <code tabIndex={0} ref={text}>
        {secret}
      </code>
      <button class="button small" type="button" autofocus={isFirst} onClick={() => void copy()}>
        <Icon name={result === 'copied' ? 'check' : 'copy'} />
        {result === 'copied' ? 'Copied' : 'Copy'}
      </button>
      <p class={result === 'refused' ? 'secret-refused' : 'visually-hidden'} role="status">
        {result === 'copied' && `Copied: ${label}`}
        {result === 'refused' && 'Could not copy: the browser did not allow it. The text is selected, so copy it yourself.'}
      </p>
    </div>
  )
}

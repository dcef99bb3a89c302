import { useState } from 'preact/hooks'
import { copyText } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { CheckField } from './fields.tsx'
import { Icon } from './icon.tsx'

interface SecretDialogProps {
  title: string
  /** Each secret with what it is. They live in this component alone, and only while it is open. */
  secrets: readonly (readonly [label: string, secret: string])[]
  /** What the secret opens, and where to keep it. */
  text: string
  onClose: () => void
}

/** Shows secrets that the server returns once. It closes only after the reader says that they are stored. */
export function SecretDialog({ title, secrets, text, onClose }: SecretDialogProps) {
  const [isStored, setStored] = useState(false)
  return (
    <Dialog title={title} onClose={onClose} closable={false}>
      <div class="dialog-body">
        <p>{text}</p>
        {secrets.map(([label, secret], at) => (
          <div key={label} class="secret">
            <span>{label}</span>
            <code tabIndex={0}>{secret}</code>
            <button class="button small" type="button" autofocus={at === 0} onClick={() => void copyText(secret)}>
              <Icon name="copy" />
              Copy
            </button>
          </div>
        ))}
        <CheckField label="I have stored it. It is not shown again." checked={isStored} onChange={setStored} />
        <div class="dialog-foot">
          <button class="button primary" type="button" disabled={!isStored} onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  )
}

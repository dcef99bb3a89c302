import { useState } from 'preact/hooks'
import { t } from '../text/text.ts'
import { announce } from './announcer.tsx'
import { Icon } from './icon.tsx'

interface CopyButtonProps {
  text: string
  label: string
  class?: string
}

/** Within a message. The Tab key reaches its buttons when the message has the focus. */
export function CopyButton({ text, label, class: extra = '' }: CopyButtonProps) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    if (!(await copyText(text))) return
    setCopied(true)
    setTimeout(() => setCopied(false), 2_500)
  }
  return (
    <button
      class={`icon-button ${extra}`}
      type="button"
      tabIndex={-1}
      aria-label={label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={copied ? 'check' : 'copy'} />
    </button>
  )
}

/** Copies the text and announces the result. Resolves to whether it succeeded. */
export async function copyText(text: string): Promise<boolean> {
  const done = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )
  announce(done ? t.copied : t.cannotCopy)
  return done
}

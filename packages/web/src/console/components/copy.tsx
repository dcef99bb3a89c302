import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { showToast } from '../shell/toast-store.ts'

const SHOWN_MS = 2_000

/** Copies the text. Returns whether the browser allowed it. */
export async function writeClipboard(text: string): Promise<boolean> {
  try {
    // Over plain http, a page of another machine has no clipboard.
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Copies the text, and says so. */
export async function copyText(text: string, done = 'Copied'): Promise<boolean> {
  const isCopied = await writeClipboard(text)
  showToast(isCopied ? done : 'The browser did not allow copying. Select the text and copy it.')
  return isCopied
}

/** An id or a code that a click copies. */
export function CopyText({ text, label, short = false }: { text: string; label: string; short?: boolean }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    if (!(await copyText(text))) return
    setCopied(true)
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  return (
    <button class={short ? 'copy-text nowrap' : 'copy-text'} type="button" title={text} onClick={() => void copy()}>
      <code>{short ? shortId(text) : text}</code>
      <span class="visually-hidden">{label}</span>
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  )
}

const KEPT_CHARACTERS = 6

/** col_4fRz…7uPa: the beginning and the end are enough to tell ids apart. */
export function shortId(id: string): string {
  const prefix = id.indexOf('_') + 1 + KEPT_CHARACTERS
  return id.length <= prefix + 5 ? id : `${id.slice(0, prefix)}…${id.slice(-4)}`
}

import { useState } from 'preact/hooks'
import { later } from '../components/later.tsx'
import { linkify } from '../components/linkify.ts'
import { t } from '../text/text.ts'

/** Only agents write Markdown. Until its code is there, their text is shown as written. */
export const MarkdownText = later(async () => (await import('./markdown-text.tsx')).MarkdownText)

const FOLD_LENGTH = 2_400
const FOLD_LINES = 30

interface MessageTextProps {
  text: string
  id?: string
  /** True for an agent. The text of people is not interpreted. */
  isMarkdown?: boolean
}

/**
 * Shows text as written, except that web addresses become links; an agent's text is Markdown. A very long text is
 * collapsed.
 */
export function MessageText({ text, id, isMarkdown = false }: MessageTextProps) {
  const [open, setOpen] = useState(false)
  const folded = open ? text : fold(text)
  const more = folded !== text && (
    <>
      …{' '}
      <button class="link-button" type="button" tabIndex={-1} onClick={() => setOpen(true)}>
        {t.messages.showAll}
      </button>
    </>
  )
  const asWritten = (
    <div class="text" id={id} dir="auto">
      {linkify(folded).map(({ text, href, shown }, i) =>
        href === undefined ? (
          text
        ) : (
          <a key={i} href={href} title={href} dir="ltr" target="_blank" rel="noopener noreferrer" tabIndex={-1}>
            {shown ?? text}
          </a>
        ),
      )}
      {more}
    </div>
  )
  if (!isMarkdown) return asWritten
  return (
    <MarkdownText text={folded} id={id} meanwhile={asWritten}>
      {more}
    </MarkdownText>
  )
}

function fold(text: string): string {
  if (text.length < FOLD_LENGTH / 2 && text.length < FOLD_LINES) return text
  const lines = text.split('\n', FOLD_LINES + 1)
  const few = lines.length > FOLD_LINES ? lines.slice(0, FOLD_LINES).join('\n') : text
  // Does not cut within a surrogate pair, and cuts only if it saves enough.
  return few.length > FOLD_LENGTH * 1.25 ? few.slice(0, FOLD_LENGTH).replace(/[\ud800-\udbff]$/, '') : few
}

import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import { t } from '../text/text.ts'

interface BannerProps {
  tone: 'quiet' | 'warning'
  children: ComponentChildren
  onClose?: () => void
  /** It is announced otherwise. */
  silent?: boolean
}

/** A line at the top of the page with a problem and what the visitor can do. */
export function Banner({ tone, children, onClose, silent = false }: BannerProps) {
  return (
    <div class={`banner ${tone}`} role={silent ? undefined : tone === 'warning' ? 'alert' : 'status'}>
      <div class="banner-text">{children}</div>
      {onClose && (
        <button class="icon-button" type="button" aria-label={t.dismiss} onClick={onClose}>
          <Icon name="close" />
        </button>
      )}
    </div>
  )
}

import { useId, useRef, useState } from 'preact/hooks'
import { announce } from './announcer.tsx'
import { Icon } from './icon.tsx'
import { later } from './later.tsx'
import { linkToShare } from '../service.ts'
import { t } from '../text/text.ts'

const QrImage = later(async () => (await import('./qr-image.tsx')).QrImage)

interface ShareLinkProps {
  title: string | undefined
  /** Default: that of the room. */
  link?: string
  label?: string
}

/** The complete link of the room, or an invitation, to copy or share. */
export function ShareLink({ title, link = linkToShare(), label = t.share.link }: ShareLinkProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [copied, setCopied] = useState(false)
  const [hasQr, setHasQr] = useState(false)
  const copy = async () => {
    input.current?.select()
    // Without permission for the clipboard, the link is selected so that Ctrl-C copies it.
    const done = await navigator.clipboard.writeText(link).then(
      () => true,
      () => false,
    )
    setCopied(done)
    announce(done ? t.share.linkCopied : t.share.linkSelected)
    if (done) setTimeout(() => setCopied(false), 2_500)
  }
  const share = () => void navigator.share({ title: title ?? t.share.untitled, url: link }).catch(() => undefined)
  return (
    <div class="share-link">
      <label class="visually-hidden" for={id}>
        {label}
      </label>
      <input id={id} ref={input} type="text" dir="ltr" readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
      <div class="buttons">
        <button class="button primary" type="button" onClick={() => void copy()}>
          <Icon name={copied ? 'check' : 'copy'} />
          {copied ? t.copied : t.share.copy}
        </button>
        {'share' in navigator && (
          <button class="button" type="button" onClick={share}>
            <Icon name="share" />
            {t.share.share}
          </button>
        )}
        <button class="button" type="button" aria-expanded={hasQr} onClick={() => setHasQr(!hasQr)}>
          <Icon name="qr" />
          {hasQr ? t.tools.qr.hide : t.tools.qr.show}
        </button>
      </div>
      {hasQr && (
        <>
          <QrImage text={link} label={t.tools.qr.image} />
          <p class="hint">{t.tools.qr.hint}</p>
        </>
      )}
    </div>
  )
}

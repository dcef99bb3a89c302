import { useMemo } from 'preact/hooks'
import { t } from '../text/text.ts'
import { encodeQr, type QrCode } from './qr-code.ts'

/** The quiet zone around the code, in modules. Cameras do not find a code without it. */
const QUIET = 4

/** Shows a text as a QR code. */
export function QrImage({ text, label }: { text: string; label: string }) {
  const code = useMemo(() => findCode(text), [text])
  if (!code) return <p class="hint">{t.tools.qr.tooLong}</p>
  const size = code.length + 2 * QUIET
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect class="qr-ground" width={size} height={size} />
      <path d={pathOf(code)} />
    </svg>
  )
}

function findCode(text: string): QrCode | undefined {
  try {
    return encodeQr(text)
  } catch {
    // Too long.
    return undefined
  }
}

/** One bar for each run of dark modules. */
function pathOf(code: QrCode): string {
  return code
    .map((row, y) => {
      const cells = row.map((isDark) => (isDark ? '1' : '0')).join('')
      return [...cells.matchAll(/1+/g)]
        .map(({ index, 0: run }) => `M${index + QUIET} ${y + QUIET}h${run.length}v1h-${run.length}z`)
        .join('')
    })
    .join('')
}

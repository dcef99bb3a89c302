import { createHash } from 'node:crypto'
import type { PageText } from '@atrium/web/page-text/page-text'
import { ARCH_MARK } from '@atrium/web/share/arch'
import { escapeHtml } from '@atrium/web/share/escape-html'
import { HOUSE_ROOT } from '@atrium/web/share/house-style'
import type { RenderedPage } from '@atrium/web/share/render-share-page'

interface FormPage {
  title: string
  /** HTML after the name of the product. */
  header?: string
  /** Lines of HTML. */
  main: string[]
  /** The sources of form-action. Browsers apply them also to the redirect that answers the form. */
  formAction: string
  text: PageText
}

const houseStyle = `
${HOUSE_ROOT}
*{box-sizing:border-box}
body{margin:0;min-height:100svh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.25rem;padding:1.5rem max(1rem,env(safe-area-inset-left));background:var(--background);color:var(--text);font:1rem/1.55 var(--sans)}
header{display:flex;align-items:center;gap:.625rem;color:var(--accent);font:600 1.125rem/1.4 var(--serif)}
header svg{width:1.0625rem;height:1.25rem;fill:none;stroke:currentcolor;stroke-width:1.5}
`

/**
 * Returns a function that renders a page with one form or message in this style. The page works without script. Its
 * policy allows the style by its hash.
 */
export function makeFormPage(ownStyle: string): (page: FormPage) => RenderedPage {
  const style = houseStyle + ownStyle
  const styleHash = createHash('sha256').update(style).digest('base64')
  return ({ title, header = '', main, formAction, text: { language, direction } }) => {
    const html = [
      '<!doctype html>',
      `<html lang="${language}" dir="${direction}">`,
      '<head>',
      '<meta charset="utf-8">',
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="robots" content="noindex">',
      `<title>${escapeHtml(title)} · Atrium</title>`,
      `<style>${style}</style>`,
      '</head>',
      '<body>',
      `<header>${ARCH_MARK} Atrium${header}</header>`,
      '<main>',
      ...main,
      '</main>',
      '</body>',
      '</html>',
    ].join('\n')
    const csp = [
      "default-src 'none'",
      `style-src 'sha256-${styleHash}'`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
      // Last, because it is the only directive with input from outside.
      `form-action ${formAction}`,
    ].join('; ')
    return { html, csp }
  }
}

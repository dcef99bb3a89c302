import { createHash } from 'node:crypto'
import { ARCH_MARK } from '@atrium/web/share/arch'
import { escapeHtml } from '@atrium/web/share/escape-html'
import { HOUSE_ROOT } from '@atrium/web/share/house-style'

/** A document and the Content-Security-Policy header it must be served with. */
interface RenderedPage {
  html: string
  csp: string
}

interface SignInForm {
  /** Origin that the person comes from and returns to. */
  destination: string
  /** Back there without signing in. */
  cancelUrl: string
  email: string
  name: string
  /** The address that was typed cannot be one. */
  rejected: boolean
}

/**
 * Complete without script. The form has no action: it posts to the page's own address, which holds the whole request.
 */
export function renderSignInPage({ destination, cancelUrl, email, name, rejected }: SignInForm): RenderedPage {
  const body = [
    '<h1>Development sign-in</h1>',
    '<p class="note"><strong>Nothing is checked here.</strong> This page believes whatever address you type: it asks for no password and',
    'sends no e-mail. It is for trying Atrium on this computer, answers no other computer, and is not there in production.</p>',
    '<form method="post">',
    '<label for="email">E-mail address</label>',
    // Not type=email: browsers would rewrite an international domain and refuse an international name.
    `<input id="email" name="email" inputmode="email" autocomplete="email" autocapitalize="none" spellcheck="false" maxlength="320" required autofocus`,
    `value="${escapeHtml(email)}"${rejected ? ' aria-invalid="true" aria-describedby="email-problem"' : ''}>`,
    rejected
      ? '<p class="problem" id="email-problem" role="alert">This is no e-mail address. Write one such as ann@example.com.</p>'
      : '',
    '<label for="name">Name <span>(optional)</span></label>',
    `<input id="name" name="name" autocomplete="name" maxlength="100" value="${escapeHtml(name)}">`,
    `<p class="actions"><button>Sign in</button> <a href="${escapeHtml(cancelUrl)}">Cancel</a></p>`,
    '</form>',
    `<p class="destination">You return to ${escapeHtml(destination)}</p>`,
  ]
  // Chromium holds a form to this policy also where the answer redirects to.
  return renderDocument(rejected ? 'Check the address' : 'Development sign-in', body, `'self' ${destination}`)
}

/** Where nobody can be sent back: says to whoever writes the client what is wrong. */
export function renderProblemPage(problem: string): RenderedPage {
  const body = [
    '<h1>This sign-in cannot go on</h1>',
    `<p class="note">${escapeHtml(problem)}</p>`,
    '<p>The page that sent you here asked in a way that Atrium’s development sign-in does not answer. Nobody was signed in.</p>',
  ]
  return renderDocument('This sign-in cannot go on', body, "'none'")
}

/** What the address in the banner is, for whoever opens it. */
export function renderAboutPage({ appUrl, discoveryUrl }: { appUrl: string; discoveryUrl: string }): RenderedPage {
  const body = [
    '<h1>Development sign-in</h1>',
    '<p class="note"><strong>Nothing is checked here.</strong> This is an OpenID provider that believes whatever address is typed. It is for',
    'trying Atrium on this computer, answers no other computer, and is not there in production.</p>',
    `<p>Apps send people here to sign in. Try it in <a href="${escapeHtml(appUrl)}">the Space app</a>: make a room with a list.</p>`,
    `<p>For programs: <a href="${escapeHtml(discoveryUrl)}">its configuration</a> (OpenID Connect Discovery).</p>`,
  ]
  return renderDocument('Development sign-in', body, "'none'")
}

function renderDocument(title: string, body: string[], formAction: string): RenderedPage {
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="robots" content="noindex">',
    `<title>${escapeHtml(title)} · Atrium</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    `<header>${ARCH_MARK} Atrium <span class="badge">development</span></header>`,
    '<main>',
    ...body.filter((line) => line !== ''),
    '</main>',
    '</body>',
    '</html>',
  ].join('\n')
  const csp = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
  return { html, csp }
}

const style = `
${HOUSE_ROOT}
*{box-sizing:border-box}
body{margin:0;min-height:100svh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.25rem;padding:1.5rem max(1rem,env(safe-area-inset-left));background:var(--background);color:var(--text);font:1rem/1.55 var(--sans)}
header{display:flex;align-items:center;gap:.625rem;color:var(--accent);font:600 1.125rem/1.4 var(--serif)}
header svg{width:1.0625rem;height:1.25rem;fill:none;stroke:currentcolor;stroke-width:1.5}
.badge{padding:.05rem .5rem;color:var(--text);font-family:var(--sans);border:1px solid var(--on-warm);border-radius:1rem;background:var(--warm);font-size:.75rem;font-weight:500}
main{width:min(100%,26rem);padding:clamp(1.25rem,5vw,2rem);border:1px solid var(--line);border-radius:16px;background:var(--surface);overflow-wrap:anywhere}
h1{margin:0 0 1rem;font-family:var(--serif);font-weight:600;font-size:1.375rem;line-height:1.25;letter-spacing:-.01em}
p{margin:0}
p+p{margin-top:1rem}
.note{padding:.75rem .875rem;border-inline-start:3px solid var(--on-warm);border-radius:6px;background:var(--warm);font-size:.9375rem}
label{display:block;margin:1.125rem 0 .375rem;font-weight:600;font-size:.9375rem}
label span{color:var(--muted);font-weight:400}
input{width:100%;min-height:2.875rem;padding:.5rem .75rem;border:1px solid var(--line-strong);border-radius:var(--round);background:var(--background);color:inherit;font:inherit}
input[aria-invalid]{border-color:var(--bad)}
.problem{margin-top:.375rem;color:var(--bad);font-size:.875rem}
.actions{display:flex;align-items:center;gap:1rem;margin-top:1.5rem}
button{flex:1;min-height:2.875rem;border:0;border-radius:var(--round);background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;cursor:pointer}
a{padding:.625rem .5rem;border-radius:6px;color:var(--muted)}
a:hover{color:var(--text)}
.destination{margin-top:1.25rem;color:var(--muted);font-size:.875rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (forced-colors:active){button{border:1px solid}}
`

const styleHash = createHash('sha256').update(style).digest('base64')

import { isolated, type PageText } from '@atrium/web/page-text/page-text'
import { escapeHtml } from '@atrium/web/share/escape-html'
import type { RenderedPage } from '@atrium/web/share/render-share-page'
import { makeFormPage } from '#http/form-page.ts'

interface SignInForm {
  /** The origin of the app that the person comes from and returns to. */
  destination: string
  /** The address of the link that returns without signing in. */
  cancelUrl: string
  email: string
  name: string
  /** Set if the typed address is not an e-mail address. */
  rejected: boolean
}

/**
 * The page works without script. The form has no action: it posts to the page's own address, which contains the
 * whole request.
 */
export function renderSignInPage({ destination, cancelUrl, email, name, rejected }: SignInForm, text: PageText): RenderedPage {
  const words = text.signIn
  const body = [
    `<h1>${words.title}</h1>`,
    `<p class="note"><strong>${words.nothingChecked}</strong> ${words.warning}</p>`,
    '<form method="post">',
    `<label for="email">${words.address}</label>`,
    // Not type=email: browsers would rewrite an international domain and refuse an international name.
    `<input id="email" name="email" inputmode="email" autocomplete="email" autocapitalize="none" spellcheck="false" maxlength="320" required autofocus`,
    `value="${escapeHtml(email)}"${rejected ? ' aria-invalid="true" aria-describedby="email-problem"' : ''}>`,
    rejected ? `<p class="problem" id="email-problem" role="alert">${words.notAddress}</p>` : '',
    `<label for="name">${words.name} <span>${words.optional}</span></label>`,
    `<input id="name" name="name" autocomplete="name" maxlength="100" value="${escapeHtml(name)}">`,
    `<p class="actions"><button>${words.signIn}</button> <a href="${escapeHtml(cancelUrl)}">${words.cancel}</a></p>`,
    '</form>',
    `<p class="destination">${escapeHtml(words.returnTo(isolated(text, destination)))}</p>`,
  ]
  // Chromium applies form-action also to the redirect that answers the form.
  return renderDocument(rejected ? words.notAddressTitle : words.title, body, `'self' ${destination}`, text)
}

/** The error page for requests without a trusted redirect address. It tells the client's developer what is wrong. */
export function renderProblemPage(problem: string, text: PageText): RenderedPage {
  const words = text.signIn
  const body = [
    `<h1>${words.problem}</h1>`,
    `<p class="note" lang="en" dir="ltr">${escapeHtml(problem)}</p>`,
    `<p>${words.problemCause}</p>`,
  ]
  return renderDocument(words.problem, body, "'none'", text)
}

/** The page at the address in the banner: it explains what the development sign-in is. */
export function renderAboutPage(
  { appUrl, discoveryUrl }: { appUrl: string; discoveryUrl: string },
  text: PageText,
): RenderedPage {
  const words = text.signIn
  const link = (address: string, name: string) => `<a href="${escapeHtml(address)}">${name}</a>`
  const body = [
    `<h1>${words.title}</h1>`,
    `<p class="note"><strong>${words.nothingChecked}</strong> ${words.about}</p>`,
    `<p>${words.aboutApp(link(appUrl, words.app))}</p>`,
    `<p>${words.aboutPrograms(link(discoveryUrl, words.configuration))}</p>`,
  ]
  return renderDocument(words.title, body, "'none'", text)
}

function renderDocument(title: string, body: string[], formAction: string, text: PageText): RenderedPage {
  const header = ` <span class="badge">${text.signIn.badge}</span>`
  return renderPage({ title, header, main: body.filter((line) => line !== ''), formAction, text })
}

const renderPage = makeFormPage(`
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
a{border-radius:4px;color:var(--accent)}
a:hover{color:var(--accent-strong)}
.actions a{padding:.625rem .5rem;border-radius:6px;color:var(--muted)}
.actions a:hover{color:var(--text)}
.destination{margin-top:1.25rem;color:var(--muted);font-size:.875rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (forced-colors:active){button{border:1px solid}}
`)

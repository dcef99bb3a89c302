// The buyer's browser: makes a token, blinds it, has it signed, and redeems it for a wallet.
import { createClient } from './client/index.js'
import { finishToken, prepareToken } from './client/blind-token.js'

const element = (/** @type {string} */ name) => /** @type {HTMLElement} */ (document.getElementById(name))
const form = /** @type {HTMLFormElement} */ (element('form'))
/** @type {{ url: string, key: string, epoch: string, value: number }} */
const { url, key, epoch, value } = await (await fetch('/settings')).json()
const atrium = createClient({ baseUrl: url, key })

async function buy() {
  const buyer = String(new FormData(form).get('buyer'))
  // The key comes from Atrium, which shows everyone the same: one that the issuer hands out could be made for one buyer.
  const { data } = await atrium.getEpoch({ epoch })
  const prepared = await prepareToken(data.public_key)
  // An app keeps `prepared` until the token is finished: then a lost answer costs nothing, since asking again is free.
  const request = { method: 'POST', body: JSON.stringify({ buyer, blinded: prepared.blinded }) }
  const answer = await fetch('/buy', request)
  if (!answer.ok) throw new Error(`The issuer answers ${answer.status}`)
  const token = await finishToken(prepared, (await answer.json()).blindSignature)
  const entry = describe('A token', { token: token.token, signature: token.sig })
  const button = entry.appendChild(document.createElement('button'))
  button.textContent = `Redeem it for ${value} credits`
  button.addEventListener('click', () => void attempt(() => redeem(token, entry)))
  element('tokens').append(entry)
  form.reset()
  await showLog()
}

async function redeem(/** @type {Awaited<ReturnType<typeof finishToken>>} */ token, /** @type {HTMLElement} */ entry) {
  // `recovery_key` (a public key of yours) would make a lost answer cost nothing here, too.
  const { data: wallet } = await atrium.redeemWallet({ body: token })
  entry.replaceWith(describe('A wallet', { 'wallet code': wallet.wallet_code, credits: String(wallet.balance) }))
  element('redeemed').append(describe('Some token', { token: token.token, signature: token.sig }))
}

async function showLog() {
  /** @type {{ buyer: string, blinded: string, blindSignature: string }[]} */
  const log = await (await fetch('/log')).json()
  element('log').replaceChildren(
    ...log.map(({ buyer, blinded, blindSignature }) => describe(buyer, { blinded, 'blind signature': blindSignature })),
  )
}

function describe(/** @type {string} */ title, /** @type {Record<string, string>} */ fields) {
  const entry = document.createElement('li')
  const strong = entry.appendChild(document.createElement('strong'))
  strong.textContent = title
  strong.dir = 'auto'
  for (const [name, text] of Object.entries(fields)) {
    const line = entry.appendChild(document.createElement('p'))
    const code = document.createElement('code')
    // Its beginning is enough to compare; the whole is what `title` shows.
    code.textContent = text.length > 48 ? `${text.slice(0, 44)}…` : text
    code.title = text
    line.append(`${name}: `, code)
  }
  return entry
}

async function attempt(/** @type {() => Promise<void>} */ action) {
  element('problem').textContent = ''
  await action().catch((error) => (element('problem').textContent = error instanceof Error ? error.message : String(error)))
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void attempt(buy)
})
await attempt(showLog)

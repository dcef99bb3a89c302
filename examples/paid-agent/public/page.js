// Shows the state that the server sends, and presses its buttons.
const element = (/** @type {string} */ name) => /** @type {HTMLElement} */ (document.getElementById(name))
const launch = /** @type {HTMLButtonElement} */ (element('launch'))
const stop = /** @type {HTMLButtonElement} */ (element('stop'))
const form = /** @type {HTMLFormElement} */ (element('form'))

/** @typedef {{ id: string, kind: string, from: string, to: string, amount: number }} Movement */
/**
 * @typedef {{ said: { author: string, text: string }[], coupon: { free: number, held: number }, movements: Movement[],
 *   status: string, charged: number, price: number }} State
 */

function show(/** @type {State} */ { said, coupon, movements, status, charged, price }) {
  const isHere = status === 'launching' || status === 'running'
  launch.textContent = `Launch it for ${price} credits`
  launch.disabled = isHere || coupon.free < price
  stop.disabled = !isHere
  element('free').textContent = String(coupon.free)
  element('held').textContent = String(coupon.held)
  element('charged').textContent = String(charged)
  element('movements').replaceChildren(
    ...movements.map(({ kind, from, to, amount }) => line('li', kind, `${amount}: ${from} → ${to}`)),
  )
  // Lines that are there stay there, so that a screen reader reads the new ones only.
  const list = element('said')
  for (const { author, text } of said.slice(list.childElementCount)) list.append(line('li', author, text))
}

function line(/** @type {'li'} */ name, /** @type {string} */ title, /** @type {string} */ text) {
  const made = document.createElement(name)
  const strong = made.appendChild(document.createElement('strong'))
  strong.textContent = title
  made.append(` ${text}`)
  made.dir = 'auto'
  return made
}

async function post(/** @type {string} */ path, body = '') {
  const answer = await fetch(path, { method: 'POST', body }).catch(() => undefined)
  element('problem').textContent = answer?.ok ? '' : ((await answer?.text()) ?? 'The example does not answer.')
  return answer?.ok
}

async function say() {
  if (await post('/say', String(new FormData(form).get('text')))) form.reset()
}

launch.addEventListener('click', () => void post('/launch'))
stop.addEventListener('click', () => void post('/stop'))
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void say()
})
new EventSource('/state').addEventListener('message', ({ data }) => show(JSON.parse(data)))

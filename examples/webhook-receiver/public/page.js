// Shows the events that the server received, as they come.
const list = /** @type {HTMLElement} */ (document.getElementById('events'))
const problem = /** @type {HTMLElement} */ (document.getElementById('problem'))

/** @typedef {{ id: string, type: string, created_at: string, data: unknown, deliveries: number }} Entry */

function show(/** @type {Entry} */ { id, type, created_at, data, deliveries }) {
  const entry = document.createElement('li')
  entry.id = id
  const again = make('button', 'Send it again')
  again.ariaLabel = `Send it again: ${type}`
  again.addEventListener('click', () => void post(`/again/${id}`))
  entry.append(
    make('h2', type),
    make('p', new Date(created_at).toLocaleString()),
    make('pre', JSON.stringify(data, null, 2)),
    make('p', deliveries === 1 ? 'Delivered once.' : `Delivered ${deliveries} times, handled once.`),
    again,
  )
  const shown = document.getElementById(id)
  if (shown) shown.replaceWith(entry)
  else list.prepend(entry)
}

function make(/** @type {'h2' | 'p' | 'pre' | 'button'} */ name, /** @type {string} */ text) {
  const made = document.createElement(name)
  made.textContent = text
  if (name === 'pre') made.tabIndex = 0
  return made
}

async function post(/** @type {string} */ path) {
  const answer = await fetch(path, { method: 'POST' }).catch(() => undefined)
  problem.textContent = answer?.ok ? '' : 'That failed. The terminal says why.'
}

document.getElementById('make')?.addEventListener('click', () => void post('/make'))
new EventSource('/events').addEventListener('message', ({ data }) => show(JSON.parse(data)))

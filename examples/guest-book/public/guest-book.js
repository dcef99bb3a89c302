// The guest book in the browser: shows the entries, adds new ones, and stays up to date.
import { createClient, followStream } from './client/index.js'
import { settings } from './settings.js'

const { url, key, id } = settings
const atrium = createClient({ baseUrl: `${url}/v1`, key })
// A token in the fragment of the address (#write=… or #owner=…) is not sent to any server.
const link = new URLSearchParams(location.hash.slice(1))
const ownerToken = link.get('owner')
const writeToken = link.get('write') ?? ownerToken

const element = (/** @type {string} */ name) => /** @type {HTMLElement} */ (document.getElementById(name))
const form = /** @type {HTMLFormElement} */ (element('form'))
const entries = element('entries')
const more = element('more')

/** @type {string | undefined} */
let nextPage

/** @typedef {Awaited<ReturnType<typeof atrium.listOpenItems>>['data'][number]} Entry */

/**
 * Shows an entry: in its place by time, the newest first, or at the end of a page that is read. One that is older than
 * what was read so far comes with its page. Text stays text, whatever it holds.
 */
function show(/** @type {Entry} */ { id: itemId, content, author, created_at, hero }, isOld = false) {
  const entry = document.createElement('li')
  entry.id = itemId
  entry.className = hero ? 'hero' : ''
  const { text } = /** @type {{ text?: unknown }} */ (content ?? {})
  entry.append(textElement('p', String(text ?? '')), textElement('footer', author ?? 'Somebody'))
  const time = textElement('time', new Date(created_at).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }))
  time.setAttribute('datetime', created_at)
  entry.lastElementChild?.append(time)
  if (ownerToken) entry.append(hideButton(itemId, author))
  const shown = document.getElementById(itemId)
  if (shown) return shown.replaceWith(entry)
  const timeOf = (/** @type {Element} */ one) => one.querySelector('time')?.dateTime ?? ''
  const next = isOld ? undefined : [...entries.children].find((one) => timeOf(one) <= created_at)
  if (next) next.before(entry)
  else if (isOld || !nextPage) entries.append(entry)
}

/** An element with text of a guest; `dir` follows its script. */
function textElement(/** @type {'p' | 'footer' | 'time'} */ name, /** @type {string} */ text) {
  const made = document.createElement(name)
  const part = name === 'footer' ? made.appendChild(document.createElement('cite')) : made
  part.textContent = text
  part.dir = 'auto'
  return made
}

/** For the owner: an archived entry leaves every page and the wall, and stays in the collection. */
function hideButton(/** @type {string} */ itemId, /** @type {string | null} */ author) {
  const button = document.createElement('button')
  button.textContent = 'Hide'
  button.ariaLabel = `Hide the entry of ${author ?? 'somebody'}`
  const hide = () => atrium.curateItem({ id, itemId, collectionToken: ownerToken ?? '', body: { archived: true } })
  button.addEventListener('click', () => void attempt(hide))
  return button
}

async function showOlder(/** @type {string | undefined} */ cursor) {
  const { data, nextCursor } = await atrium.listOpenItems({ id, query: { limit: 30, ...(cursor ? { cursor } : {}) } })
  if (!cursor) entries.replaceChildren()
  for (const item of data) show(item, true)
  nextPage = nextCursor
  more.hidden = !nextPage
  showEmpty()
}

const showEmpty = () => void (element('empty').hidden = entries.childElementCount > 0)

/** The stream is opened first and the list is read then, so that nothing can be missed between the two. */
async function follow() {
  for await (const { event, data } of followStream(atrium.streamCollection, { id })) {
    if (event === 'ready' || event === 'reset') {
      // The stream sends neither again, and its events wait meanwhile.
      while (!(await attempt(() => showOlder(undefined)))) await new Promise((resolve) => setTimeout(resolve, 5_000))
    } else if (event === 'item') {
      const isNew = document.getElementById(data.id) === null
      show(data)
      if (isNew && document.getElementById(data.id))
        element('news').textContent = `${data.author ?? 'Somebody'} wrote in the guest book.`
    } else if (event === 'removed') document.getElementById(data.id)?.remove()
    showEmpty()
  }
}

/** Runs what may fail, and says so if it does: the messages of the API are made to be read. */
async function attempt(/** @type {() => Promise<unknown>} */ action) {
  const problem = element('problem')
  problem.textContent = ''
  try {
    await action()
    return true
  } catch (error) {
    problem.textContent = error instanceof Error ? error.message : String(error)
    return false
  }
}

// Sending the same words again, after an answer was lost, adds them once; other words are another entry.
const newEntryKey = () => `entry-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
let idempotencyKey = newEntryKey()
form.addEventListener('input', () => void (idempotencyKey = newEntryKey()))

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void sign()
})

async function sign() {
  const fields = new FormData(form)
  const [text, author] = [String(fields.get('text')).trim(), String(fields.get('author')).trim()]
  if (text === '') return
  const body = { type: 'message', content: { text }, ...(author ? { author } : {}) }
  const button = /** @type {HTMLButtonElement} */ (form.querySelector('button'))
  button.disabled = true
  if (await attempt(() => atrium.addItem({ id, collectionToken: writeToken ?? '', idempotencyKey, body }))) {
    element('text').focus()
    form.reset()
    idempotencyKey = newEntryKey()
  }
  button.disabled = false
}

more.addEventListener('click', () => void attempt(() => showOlder(nextPage)))
// The token is read when the page loads.
addEventListener('hashchange', () => location.reload())

form.hidden = !writeToken
element('readonly').hidden = Boolean(writeToken)
const wall = /** @type {HTMLAnchorElement} */ (element('wall'))
wall.href = `${url}/v1/collections/${id}/wall?layout=stage`
wall.hidden = false
await attempt(async () => {
  const { data } = await atrium.getCollection({ id })
  document.title = element('title').textContent = String(data.metadata['share_title'] ?? 'Guest book')
  await follow()
})

/** Search over operations, objects, events, errors and guides. The index is loaded when a reader first searches. */

const most = 12

/** @typedef {[kind: string, title: string, path: string, words: string]} Entry */

/** @type {Promise<Entry[]> | undefined} */
let loading

/** @returns {Promise<Entry[]>} */
function loadEntries() {
  loading ??= fetch('/docs/assets/search.json').then((res) => {
    if (!res.ok) throw new Error(`${res.status}`)
    return res.json()
  })
  loading.catch(() => (loading = undefined))
  return loading
}

/**
 * Every word must occur. Words in the title count more, and most at its beginning.
 * @param {Entry} entry @param {string[]} words
 */
function scoreOf([kind, title, path, more], words) {
  const name = title.toLowerCase()
  const rest = `${more} ${path} ${kind}`.toLowerCase()
  let score = kind === 'operation' ? 1 : 0
  for (const word of words) {
    if (name === word) score += 40
    else if (name.startsWith(word)) score += 20
    else if (name.includes(word)) score += 10
    else if (rest.includes(word)) score += 3
    else return 0
  }
  return score
}

/** @param {Entry[]} entries @param {string} query */
function find(entries, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ entry }) => entry)
}

/** @type {HTMLDialogElement | undefined} */
let dialog

export function showSearch() {
  dialog ??= makeDialog()
  if (!dialog.open) dialog.showModal()
  dialog.querySelector('input')?.select()
  loadEntries().catch(() => undefined)
}

function makeDialog() {
  const made = document.createElement('dialog')
  made.className = 'finder'
  made.setAttribute('aria-label', 'Search the documentation')
  const input = document.createElement('input')
  for (const [name, value] of [
    // In a field for searches, the first Escape empties the field and does not close the dialog.
    ['type', 'text'],
    ['enterkeyhint', 'search'],
    ['role', 'combobox'],
    ['aria-label', 'Search'],
    ['aria-expanded', 'false'],
    ['aria-controls', 'found'],
    ['aria-autocomplete', 'list'],
    ['autocomplete', 'off'],
    ['spellcheck', 'false'],
    ['maxlength', '200'],
    ['placeholder', 'Operations, objects, errors, guides'],
  ])
    input.setAttribute(/** @type {string} */ (name), /** @type {string} */ (value))
  const list = document.createElement('ul')
  list.id = 'found'
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Results')
  const status = document.createElement('p')
  status.setAttribute('role', 'status')
  status.textContent = 'Type a word. ↑ ↓ choose, Enter opens, Esc closes.'
  made.append(input, list, status)
  document.body.append(made)
  let at = 0

  /** @param {number} to */
  const choose = (to) => {
    const options = [...list.children]
    if (options.length === 0) return
    at = (to + options.length) % options.length
    for (const [i, option] of options.entries()) option.setAttribute('aria-selected', String(i === at))
    input.setAttribute('aria-activedescendant', options[at]?.id ?? '')
    options[at]?.scrollIntoView({ block: 'nearest' })
  }
  const show = async () => {
    const asked = input.value
    /** @type {Entry[]} */
    let entries
    try {
      entries = await loadEntries()
    } catch {
      status.textContent = 'The index could not be loaded. Try again.'
      return
    }
    if (asked !== input.value) return
    const found = find(entries, asked)
    list.replaceChildren(...found.map(optionOf))
    input.setAttribute('aria-expanded', String(found.length > 0))
    input.removeAttribute('aria-activedescendant')
    status.textContent = asked.trim() === '' ? 'Type a word.' : found.length === 0 ? 'Nothing found.' : `${found.length} found.`
    choose(0)
  }
  const open = () => {
    const link = list.children[at]
    if (!(link instanceof HTMLElement) || !link.dataset['path']) return
    made.close()
    location.assign(link.dataset['path'])
  }
  input.addEventListener('input', () => void show())
  input.addEventListener('keydown', (event) => {
    // An input method has the key. In Safari, the composing is over before an Enter that ends it, with the code 229.
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === 'ArrowDown') choose(at + 1)
    else if (event.key === 'ArrowUp') choose(at - 1)
    else if (event.key === 'Enter') open()
    else return
    event.preventDefault()
  })
  list.addEventListener('click', (event) => {
    const option = event.target instanceof Element ? event.target.closest('li') : null
    if (!option) return
    at = [...list.children].indexOf(option)
    open()
  })
  made.addEventListener('click', (event) => {
    if (event.target === made) made.close()
  })
  return made
}

/** @param {Entry} entry @param {number} at */
function optionOf([kind, title, path, words], at) {
  const option = document.createElement('li')
  option.id = `found-${at}`
  option.setAttribute('role', 'option')
  option.dataset['path'] = path
  const texts = { strong: title, span: kind, small: openingOf(words) }
  for (const [tag, text] of Object.entries(texts)) {
    const part = document.createElement(tag)
    part.textContent = text
    option.append(part)
  }
  return option
}

/** The beginning of a text, up to a whole word. @param {string} text */
function openingOf(text) {
  if (text.length <= 100) return text
  const cut = text.slice(0, 100)
  return `${cut.slice(0, cut.lastIndexOf(' '))} …`
}

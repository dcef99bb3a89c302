/**
 * Adds to the pages of the documentation what HTML cannot do: it copies code, stores the chosen language, and opens
 * search and the forms to try operations. The pages are readable without it. The browser runs this file as it is.
 */

// Loaded with this file and not on demand, so that a letter typed right after the shortcut is in the dialog.
import { showSearch } from './search.js'

const copied = 'Copied'

/** Text of the example that is shown. @param {Element} block */
function shownCode(block) {
  const shown = [...block.querySelectorAll('pre')].find((pre) => pre.checkVisibility())
  return shown?.textContent ?? ''
}

/** @param {Element} block */
function addCopyButton(block) {
  const bar = block.querySelector('.bar')
  if (!bar) return
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.className = 'copy'
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(shownCode(block)).then(
      () => say(button, copied),
      () => say(button, 'Not allowed'),
    )
  })
  bar.append(button)
}

/**
 * Shows the outcome for a moment and announces it to screen readers.
 * @param {HTMLButtonElement} button @param {string} text
 */
function say(button, text) {
  button.setAttribute('aria-live', 'polite')
  button.textContent = text
  setTimeout(() => (button.textContent = 'Copy'), 1_500)
}

const storedLanguage = 'atrium-docs-language'

/** @param {string} language */
function showLanguage(language) {
  for (const input of document.querySelectorAll('.samples input')) {
    if (input instanceof HTMLInputElement && input.value === language) input.checked = true
  }
}

/**
 * Runs `use`; the browser may have storage switched off.
 * @param {() => string | null | void} use
 */
function withStorage(use) {
  try {
    return use() ?? undefined
  } catch {
    return undefined
  }
}

const remembered = withStorage(() => localStorage.getItem(storedLanguage))
if (remembered) showLanguage(remembered)
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.closest('.samples')) return
  // The other blocks change their height, so the one that was used is kept at its place on the screen.
  const before = target.getBoundingClientRect().top
  showLanguage(target.value)
  scrollBy(0, target.getBoundingClientRect().top - before)
  withStorage(() => localStorage.setItem(storedLanguage, target.value))
})

for (const block of document.querySelectorAll('.code')) addCopyButton(block)

const searchButton = document.querySelector('button.search')
if (searchButton instanceof HTMLButtonElement) {
  searchButton.hidden = false
  searchButton.addEventListener('click', showSearch)
}
document.addEventListener('keydown', (event) => {
  const target = event.target
  const writes = target instanceof Element && target.closest('input:not([type=radio]), textarea, select, dialog')
  const asks = event.key === '/' || (event.key === 'k' && (event.metaKey || event.ctrlKey))
  if (asks && !writes) {
    event.preventDefault()
    showSearch()
  }
  if (event.key === 'Escape' && location.hash === '#menu') location.hash = '#content'
})

for (const section of document.querySelectorAll('[data-try]')) {
  const examples = section.querySelector('.examples')
  if (!(section instanceof HTMLElement) || !examples) continue
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'try'
  button.textContent = 'Try it'
  const title = section.querySelector('h2')?.textContent ?? ''
  button.setAttribute('aria-label', `Try it: ${title}`)
  button.addEventListener('click', () => {
    import('./try-it.js').then(({ addForm }) => {
      button.replaceWith(addForm(JSON.parse(section.dataset['try'] ?? '{}'), title, document.body.dataset['key']))
      const first = section.querySelector('form input, form textarea, form button')
      if (first instanceof HTMLElement) first.focus()
    }, console.error)
  })
  examples.append(button)
}

// Redirects addresses of the previous reference: /docs#/Items/addItem.
const old = /^#\/[^/]+\/(\w+)$/.exec(location.hash)?.[1]
const moved = old && document.querySelector(`main a[href$="#${CSS.escape(old)}"]`)
if (moved instanceof HTMLAnchorElement) location.replace(moved.href)

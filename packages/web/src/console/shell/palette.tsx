import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Store } from '../../space/store.ts'
import { useStore } from '../../space/use-store.ts'
import { api, signOut } from '../api/api.ts'
import type { ConsoleSession } from '../api/session.ts'
import { Dialog } from '../components/dialog.tsx'
import { shownTitle } from '../components/format.tsx'
import { Icon, type IconName } from '../components/icon.tsx'
import type { PageSpec } from '../router/pages.ts'
import { navigate } from '../router/router.tsx'
import { signOutEverywhere } from './sign-out-everywhere.tsx'
import { showFailure } from './toast-store.ts'

const state = new Store<{ isOpen: boolean }>({ isOpen: false })

export function openPalette(): void {
  state.update({ isOpen: true })
}

addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
  event.preventDefault()
  if (!document.querySelector('dialog[open]')) openPalette()
})

interface Command {
  id: string
  label: string
  hint?: string
  icon: IconName
  run: () => void
}

interface PaletteProps {
  session: ConsoleSession
  pages: readonly PageSpec[]
}

/** A field that finds pages, commands, collections by title, and any object by its id. */
export function CommandPalette(props: PaletteProps) {
  const isOpen = useStore(state, (value) => value.isOpen)
  return isOpen ? <Palette {...props} /> : null
}

function Palette({ session, pages }: PaletteProps) {
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const listId = useId()
  const list = useRef<HTMLUListElement>(null)
  const found = useCollections(session.kind === 'tenant' ? text.trim() : '')
  const commands = [...byId(text.trim(), pages), ...matching(commandsOf(session, pages), text), ...found]
  const at = Math.min(active, commands.length - 1)
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at])
  const close = () => state.update({ isOpen: false })
  const run = (command: Command | undefined) => {
    if (!command) return
    close()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // An input method has the key. In Safari, the composing is over before an Enter that ends it, with the code 229.
    if (event.isComposing || event.keyCode === 229) return
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setActive((at + step + commands.length) % Math.max(1, commands.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(commands[at])
    }
  }
  return (
    <Dialog title="Search and commands" layout="top" bare onClose={close}>
      <div class="palette-field">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Search and commands"
          aria-expanded="true"
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={commands.length > 0 ? `${listId}-${at}` : undefined}
          placeholder="A page, a collection, an id…"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul class="palette-list" role="listbox" id={listId} aria-label="Results" ref={list}>
        {commands.map((command, index) => (
          <li
            key={command.id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseMove={() => setActive(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span dir="auto" title={command.label}>
              {command.label}
            </span>
            {command.hint !== undefined && <small>{command.hint}</small>}
          </li>
        ))}
      </ul>
      {commands.length === 0 && <p class="palette-none">Nothing is found.</p>}
    </Dialog>
  )
}

function commandsOf({ kind }: ConsoleSession, pages: readonly PageSpec[]): Command[] {
  const open = pages.flatMap(({ path, title, menu }): Command[] =>
    menu ? [{ id: path, label: title, hint: `g ${menu.key}`, icon: menu.icon, run: () => navigate(path) }] : [],
  )
  const outside = (label: string, address: string): Command => ({
    id: address,
    label,
    hint: 'new tab',
    icon: 'outside',
    run: () => void window.open(address, '_blank', 'noopener,noreferrer'),
  })
  return [
    ...open,
    outside('API reference', '/docs'),
    outside('Error codes', '/docs/errors'),
    ...(kind === 'tenant' ? [outside('Guides', '/docs/guides')] : []),
    { id: 'sign-out', label: 'Sign out', icon: 'person', run: () => void signOut(false).catch(showFailure) },
    { id: 'everywhere', label: 'Sign out everywhere', icon: 'shield', run: () => void signOutEverywhere().catch(showFailure) },
  ]
}

function matching(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/)
  return commands.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
}

/** Where an object is shown, by the kind of its id. */
const places: Readonly<Record<string, { path: (id: string) => string; page: string; label: string }>> = {
  col: { page: '/collections', path: (id) => `/collections/${id}`, label: 'Open the collection' },
  agt: { page: '/agents', path: (id) => `/agents/${id}`, label: 'Open the agent' },
  evt: { page: '/events', path: (id) => `/events?q=${id}`, label: 'Find the event' },
  req: { page: '/logs', path: (id) => `/logs?request=${id}`, label: 'Find the request' },
  ten: { page: '/tenants', path: (id) => `/tenants/${id}`, label: 'Open the tenant' },
}

function byId(text: string, pages: readonly PageSpec[]): Command[] {
  const place = /^([a-z]{3})_[A-Za-z0-9]{10,40}$/.exec(text)?.[1]
  const found = place === undefined ? undefined : places[place]
  const page = found && pages.find(({ path }) => path === found.page)
  if (!found || !page) return []
  return [{ id: text, label: found.label, hint: text, icon: page.menu?.icon ?? 'search', run: () => navigate(found.path(text)) }]
}

const MIN_LETTERS = 2
const PAUSE_MS = 200

function useCollections(text: string): Command[] {
  const [found, setFound] = useState<{ text: string; commands: Command[] }>({ text: '', commands: [] })
  useEffect(() => {
    if (text.length < MIN_LETTERS) return undefined
    const stop = new AbortController()
    const timer = setTimeout(() => {
      void api.listCollections({ query: { q: text.slice(0, 200), limit: 5 }, signal: stop.signal }).then(
        ({ data }) => {
          const commands = data.map(({ id, metadata }): Command => ({
            id,
            label: shownTitle(metadata) ?? id,
            hint: 'collection',
            icon: 'collections',
            run: () => navigate(`/collections/${id}`),
          }))
          setFound({ text, commands })
        },
        () => undefined, // The page of collections says why it fails.
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [text])
  return found.text === text ? found.commands : []
}

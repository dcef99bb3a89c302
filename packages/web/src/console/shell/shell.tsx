import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
import type { ConsoleSession } from '../api/session.ts'
import { Icon } from '../components/icon.tsx'
import { type PageSpec, pagesOf } from '../router/pages.ts'
import { matchPath, type Params } from '../router/match-path.ts'
import { navigate, usePath } from '../router/router.tsx'
import { Confirmation } from './confirm.tsx'
import { useKeptFocus } from './keep-focus.ts'
import { Navigation } from './navigation.tsx'
import { Secrets } from './secrets.tsx'
import { CommandPalette, openPalette } from './palette.tsx'
import { ShortcutSheet, showShortcuts, useShortcuts } from './shortcuts.tsx'
import { NotFound } from './not-found.tsx'

/** The frame of every page: navigation, search, dialogs and the page itself. */
export function Shell({ session }: { session: ConsoleSession }) {
  const path = usePath()
  const pages = pagesOf(session)
  const found = findPage(pages, path)
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useKeptFocus()
  // Before the page can be used: a focus that moves later would take the next key from the control that has it by then.
  useLayoutEffect(() => {
    document.title = `${found?.page.title ?? 'Not found'} · ${isolated(session.tenant?.name ?? 'Atrium')}`
    setDrawerOpen(false)
    // A screen reader continues at the new page, but not before the first one.
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path])
  useShortcuts('Everywhere', [
    { keys: '?', label: 'Show the shortcuts', run: showShortcuts },
    { keys: '/', label: 'Search and commands (also Ctrl K)', run: openPalette },
  ])
  useShortcuts(
    'Go to',
    pages.flatMap(({ menu, title, path }) => (menu ? [{ keys: `g ${menu.key}`, label: title, run: () => navigate(path) }] : [])),
  )
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the content
      </a>
      <header class="top">
        <button
          class="icon-button"
          type="button"
          aria-label="Menu"
          aria-expanded={isDrawerOpen}
          aria-controls="navigation"
          onClick={() => setDrawerOpen(!isDrawerOpen)}
        >
          <Icon name={isDrawerOpen ? 'close' : 'menu'} />
        </button>
        <span class="top-title" dir="auto">
          {session.tenant?.name ?? 'Operator'}
        </span>
        <button class="icon-button" type="button" aria-label="Search and commands" onClick={openPalette}>
          <Icon name="search" />
        </button>
      </header>
      <Navigation session={session} pages={pages} path={path} isOpen={isDrawerOpen} onClose={() => setDrawerOpen(false)} />
      <main id="content" class="content" tabIndex={-1} ref={main}>
        {found ? <found.page.component key={found.page.path} params={found.params} /> : <NotFound />}
      </main>
      <CommandPalette session={session} pages={pages} />
      <ShortcutSheet />
      <Confirmation />
      <Secrets session={session} />
    </div>
  )
}

function findPage(pages: readonly PageSpec[], path: string): { page: PageSpec; params: Params } | undefined {
  for (const page of pages) {
    const params = matchPath(page.path, path)
    if (params) return { page, params }
  }
  return undefined
}

import { useLayoutEffect, useRef } from 'preact/hooks'
import { ArchMark } from '../../space/components/arch.tsx'
import { signOut } from '../api/api.ts'
import type { ConsoleSession } from '../api/session.ts'
import { useAction } from '../api/use-action.ts'
import { Icon } from '../components/icon.tsx'
import type { PageSpec } from '../router/pages.ts'
import { Link } from '../router/router.tsx'
import { openPalette } from './palette.tsx'
import { Keys, showShortcuts } from './shortcuts.tsx'

interface NavigationProps {
  session: ConsoleSession
  pages: readonly PageSpec[]
  path: string
  /** On a phone the navigation is a drawer. On a wide screen it is always there. */
  isOpen: boolean
  onClose: () => void
}

export function Navigation({ session, pages, path, isOpen, onClose }: NavigationProps) {
  const drawer = useRef<HTMLElement>(null)
  // With the drawer itself: a focus that moves later would take the next key from the control that has it by then.
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    const opener = document.activeElement
    drawer.current?.querySelector<HTMLElement>('a')?.focus()
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      if (opener instanceof HTMLElement) opener.focus()
      onClose()
    }
    // The drawer would cover what has the focus, but for a dialog that its buttons open.
    const leave = ({ target }: FocusEvent) => {
      if (target === opener || !(target instanceof Element) || target.closest('.side, dialog')) return
      onClose()
    }
    addEventListener('keydown', close)
    addEventListener('focusin', leave)
    return () => {
      removeEventListener('keydown', close)
      removeEventListener('focusin', leave)
    }
  }, [isOpen])
  const shown = pages.filter(({ menu }) => menu)
  const sections = [...new Set(shown.map(({ menu }) => menu?.section))]
  return (
    <>
      {isOpen && <div class="veil" onClick={onClose} />}
      <aside class={isOpen ? 'side open' : 'side'} id="navigation" ref={drawer}>
        <div class="tenant">
          <ArchMark />
          <span class="tenant-name" dir="auto" title={session.tenant?.name}>
            {session.tenant?.name ?? 'Operator'}
          </span>
          {session.development && <span class="badge">dev</span>}
        </div>
        <button class="search-button" type="button" onClick={openPalette}>
          <Icon name="search" />
          <span>Search</span>
          <Keys keys="Ctrl K" />
        </button>
        <nav aria-label="Pages">
          {sections.map((section) => (
            <div key={section ?? ''} class="nav-section">
              {section !== undefined && <h2>{section}</h2>}
              <ul>
                {shown
                  .filter(({ menu }) => menu?.section === section)
                  .map((page) => (
                    <li key={page.path}>
                      <Link to={page.path} class="nav-link" current={isWithin(page.path, path)} onFollow={onClose}>
                        {page.menu && <Icon name={page.menu.icon} />}
                        {page.title}
                      </Link>
                    </li>
                  ))}
              </ul>
            </div>
          ))}
        </nav>
        <Who session={session} onFollow={onClose} />
      </aside>
    </>
  )
}

function isWithin(page: string, path: string): boolean {
  return page === '/' ? path === '/' : path === page || path.startsWith(`${page}/`)
}

function Who({ session: { member, kind, role }, onFollow }: { session: ConsoleSession; onFollow: () => void }) {
  const [isBusy, run] = useAction()
  const name = member?.name ?? member?.email ?? (kind === 'operator' ? 'Operator' : 'One-time link')
  const who = (
    <>
      <Icon name="person" />
      <span>
        <b dir="auto">{name}</b>
        {role !== null && <small>{role}</small>}
      </span>
    </>
  )
  return (
    <div class="who">
      {kind === 'tenant' ? (
        <Link to="/settings/sessions" class="who-name" onFollow={onFollow}>
          {who}
        </Link>
      ) : (
        <div class="who-name">{who}</div>
      )}
      <div class="who-actions">
        <button class="quiet" type="button" onClick={showShortcuts}>
          Shortcuts
        </button>
        <a class="quiet" href="/docs" target="_blank" rel="noopener noreferrer">
          Docs
        </a>
        <button class="quiet" type="button" disabled={isBusy} onClick={() => void run(() => signOut(false))}>
          Sign out
        </button>
      </div>
    </div>
  )
}

import type { ComponentChildren, TargetedMouseEvent } from 'preact'
import { Store } from '../../space/store.ts'
import { useStore } from '../../space/use-store.ts'

const BASE = '/console'
/** Addresses that somebody may type, and where what they mean is. */
const meant: Readonly<Record<string, string>> = { '/sessions': '/agent-sessions', '/session': '/', '/sign-in': '/' }

interface Place {
  /** The path below /console, such as /collections; / for the console itself. */
  path: string
  search: string
}

const here = new Store<Place>(read())

addEventListener('popstate', () => here.update(read()))

function read(): Place {
  const typed = location.pathname.slice(BASE.length).replace(/(?<!\/)\/+$/, '')
  const path = meant[typed] ?? typed
  if (path !== typed) history.replaceState(null, '', `${BASE}${path}${location.search}${location.hash}`)
  return { path: path === '' ? '/' : path, search: location.search }
}

export function usePath(): string {
  return useStore(here, ({ path }) => path)
}

/** The parameters of the address, and a function that replaces some of them. undefined and '' remove one. */
export function useSearch(): [URLSearchParams, (change: Record<string, string | undefined>) => void] {
  const search = useStore(here, ({ search }) => search)
  const change = (changes: Record<string, string | undefined>) => {
    const next = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') next.delete(name)
      else next.set(name, value)
    }
    history.replaceState(null, '', `${location.pathname}${next.size > 0 ? `?${next}` : ''}`)
    here.update(read())
  }
  return [new URLSearchParams(search), change]
}

/** Goes to a page of the console: a path below /console, with its query if it has one. */
export function navigate(to: string, { replace = false } = {}): void {
  const address = `${BASE}${to === '/' ? '' : to}`
  if (replace) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
  here.update(read())
  scrollTo(0, 0)
}

interface LinkProps {
  to: string
  children: ComponentChildren
  class?: string
  current?: boolean
  label?: string
  onFollow?: () => void
}

/** A link within the console. With a modifier key, or in another tab, it is an ordinary link. */
export function Link({ to, children, class: name, current, label, onFollow }: LinkProps) {
  const follow = (event: TargetedMouseEvent<HTMLAnchorElement>) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
    onFollow?.()
  }
  return (
    <a
      href={`${BASE}${to === '/' ? '' : to}`}
      class={name}
      aria-current={current ? 'page' : undefined}
      aria-label={label}
      onClick={follow}
    >
      {children}
    </a>
  )
}

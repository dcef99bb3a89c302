import { useEffect, useRef } from 'preact/hooks'
import { Link } from '../router/router.tsx'

/** Links to the parts of one object. Each part has an address of its own. */
export function Tabs({
  label,
  tabs,
  path,
}: {
  label: string
  tabs: readonly (readonly [to: string, title: string])[]
  path: string
}) {
  const nav = useRef<HTMLElement>(null)
  // On a phone the tabs may be wider than the screen.
  useEffect(() => nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [path])
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {tabs.map(([to, title]) => (
        <Link key={to} to={to} current={to === path}>
          {title}
        </Link>
      ))}
    </nav>
  )
}

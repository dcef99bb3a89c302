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
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([to, title]) => (
        <Link key={to} to={to} current={to === path}>
          {title}
        </Link>
      ))}
    </nav>
  )
}

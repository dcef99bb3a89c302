import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import { Link } from '../router/router.tsx'

interface PageHeadProps {
  title: string
  /** One sentence below the title. */
  lead?: ComponentChildren
  /** The page above this one. */
  up?: { to: string; title: string }
  /** Buttons beside the title. */
  children?: ComponentChildren
}

export function PageHead({ title, lead, up, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        {up && (
          <Link class="up" to={up.to}>
            <Icon name="back" />
            {up.title}
          </Link>
        )}
        <h1>{title}</h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {children !== undefined && <div class="page-actions">{children}</div>}
    </div>
  )
}

/** In place of a list without entries: what would be here, and how the first one comes about. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

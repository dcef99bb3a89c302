import type { ComponentChildren } from 'preact'

/** Facts about one thing: names with their values. */
export function FactGrid({ children }: { children: ComponentChildren }) {
  return <dl class="fact-grid">{children}</dl>
}

/** `whole`: over the whole width, for what is long. */
export function Fact({ name, whole = false, children }: { name: string; whole?: boolean; children: ComponentChildren }) {
  return (
    <div class={whole ? 'whole' : ''}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A section with a heading and, at its side, what can be done. */
export function Card({ title, actions, children }: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{title}</h2>
        {actions !== undefined && <div class="row-actions">{actions}</div>}
      </div>
      {children}
    </section>
  )
}

import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Selection {
  /** The selected rows, in the order of the list. */
  ids: readonly string[]
  /** As `ids`, also between two renderings. */
  now: () => readonly string[]
  /** Selects a row, or not. `isRange`: with all rows between it and the row before. */
  toggle: (id: string, isRange?: boolean) => void
  toggleAll: () => void
  set: (ids: readonly string[]) => void
}

/** Which rows of a list are selected. Another `key` is another list, in which nothing is selected. */
export function useSelection(key: string, rows: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  // Keys can be pressed faster than the page is rendered.
  const latest = useRef({ chosen, rows })
  latest.current.rows = rows
  const last = useRef<string | undefined>(undefined)
  const now = () => latest.current.rows.filter((id) => latest.current.chosen.has(id))
  const choose = (ids: readonly string[]) => {
    latest.current.chosen = new Set(ids)
    setChosen(latest.current.chosen)
  }
  useLayoutEffect(() => choose([]), [key])
  const toggle = (id: string, isRange = false) => {
    const isOn = !latest.current.chosen.has(id)
    const [from, to] = [rows.indexOf(last.current ?? ''), rows.indexOf(id)]
    const meant = isRange && from >= 0 ? rows.slice(Math.min(from, to), Math.max(from, to) + 1) : [id]
    const others = now().filter((one) => !meant.includes(one))
    choose(isOn ? [...others, ...meant] : others)
    last.current = id
  }
  return {
    ids: rows.filter((id) => chosen.has(id)),
    now,
    toggle,
    toggleAll: () => choose(now().length === rows.length ? [] : rows),
    set: choose,
  }
}

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Store } from './store.ts'

/** The value that `select` returns for the store. The component renders again only when it changes. */
export function useStore<T extends object, S>(store: Store<T>, select: (value: T) => S): S {
  const [, setTurn] = useState(0)
  const selected = select(store.value)
  const latest = useRef({ select, selected })
  latest.current = { select, selected }
  useLayoutEffect(() => {
    const check = () => {
      const { select, selected } = latest.current
      if (!Object.is(select(store.value), selected)) setTurn((turn) => turn + 1)
    }
    check()
    return store.subscribe(check)
  }, [store])
  return selected
}

import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { loadCode } from '../load-code.ts'

interface Later<P> {
  /** `meanwhile`: what is shown until the code is there. */
  (props: P & { meanwhile?: preact.JSX.Element }): preact.JSX.Element | null
  /** Fetches the code in advance. Resolves also if that fails: it is fetched again when it is shown. */
  fetch(): Promise<unknown>
}

/**
 * A component whose code is not part of the first view. Until the code has been loaded, which may take several
 * attempts, it shows nothing or `meanwhile`. All that are shown wait for the same load. A dialog takes the focus from
 * where it was when it was asked for, and returns it there, even if it has moved while the code was loaded.
 */
export function later<P extends object>(load: () => Promise<ComponentType<P>>, { isDialog = false } = {}): Later<P> {
  let loaded: ComponentType<P> | undefined
  let waiting = 0
  let loading: Promise<ComponentType<P>>
  let left: AbortController
  const fetch = async (): Promise<ComponentType<P>> => (loaded ??= await load())
  const Shown = ({ meanwhile, ...props }: P & { meanwhile?: preact.JSX.Element }) => {
    const [Loaded, setLoaded] = useState(() => loaded)
    const asked = useRef(document.activeElement)
    useEffect(() => {
      // The dialog is shown already, and has the focus.
      if (Loaded) return undefined
      let isOver = false
      const show = (component: ComponentType<P>) => {
        if (isOver) return
        if (isDialog && asked.current instanceof HTMLElement) asked.current.focus()
        setLoaded(() => component)
      }
      if (waiting++ === 0) {
        left = new AbortController()
        loading = loadCode(fetch, left.signal)
      }
      void loading.then(show, () => undefined)
      return () => {
        isOver = true
        if (--waiting === 0) left.abort()
      }
    }, [])
    return Loaded ? <Loaded {...(props as unknown as P)} /> : (meanwhile ?? null)
  }
  return Object.assign(Shown, { fetch: () => fetch().catch(() => undefined) })
}

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Params } from './match-path.ts'
import { Loading } from '../components/loading.tsx'

export type PageComponent = ComponentType<{ params: Params }>

/** A page whose code is loaded when it is opened. */
export function lazyPage(load: () => Promise<PageComponent>): PageComponent {
  let loaded: PageComponent | undefined
  return function LazyPage(props) {
    const [Page, setPage] = useState(() => loaded)
    const [isMissing, setMissing] = useState(false)
    useEffect(() => {
      let isMounted = true
      const tryOnce = () =>
        void load().then(
          (page) => {
            loaded = page
            if (isMounted) setPage(() => page)
          },
          () => isMounted && setMissing(true),
        )
      if (!loaded) tryOnce()
      addEventListener('online', tryOnce)
      return () => {
        isMounted = false
        removeEventListener('online', tryOnce)
      }
    }, [])
    if (Page) return <Page {...props} />
    if (!isMissing) return <Loading />
    return (
      <div class="failure" role="alert">
        <p>This part of the console could not be loaded. The connection failed, or the server has a newer version.</p>
        <button class="button small" type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    )
  }
}

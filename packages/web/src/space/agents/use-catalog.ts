import { useEffect, useState } from 'preact/hooks'
import type { CatalogAgent, CatalogPage, PlatformApi } from '../api/platform-api.ts'

interface Catalog {
  readonly agents: readonly CatalogAgent[]
  readonly nextCursor: string | undefined
  readonly busy: boolean
  readonly failure: unknown
}

const NOTHING: Catalog = { agents: [], nextCursor: undefined, busy: true, failure: undefined }

/**
 * The part of the catalog that was fetched. `fetchMore` continues, even after a failure, and resolves to the new
 * agents.
 */
export function useCatalog(api: PlatformApi) {
  const [catalog, setCatalog] = useState(NOTHING)
  const fetchMore = async (): Promise<readonly CatalogAgent[]> => {
    setCatalog((old) => ({ ...old, busy: true, failure: undefined }))
    try {
      const { agents, nextCursor } = await fetchFilledPage(api, catalog.nextCursor)
      setCatalog((old) => ({ agents: [...old.agents, ...agents], nextCursor, busy: false, failure: undefined }))
      return agents
    } catch (failure) {
      setCatalog((old) => ({ ...old, busy: false, failure }))
      return []
    }
  }
  useEffect(() => void fetchMore(), [])
  return { ...catalog, fetchMore }
}

/** A page can be empty without being the last one. */
async function fetchFilledPage(api: PlatformApi, cursor: string | undefined): Promise<CatalogPage> {
  let page = await api.listCatalog(cursor)
  while (page.agents.length === 0 && page.nextCursor !== undefined) page = await api.listCatalog(page.nextCursor)
  return page
}

import { Batcher } from '@atrium/traffic/batcher'
import type { Db } from '#db/database.ts'
import { listSuspendedTenants } from './store.ts'

/** Tells whether tenants are suspended, for pages and media that are served without a key. Reads of one moment share a query. */
export class SuspensionReader {
  readonly #reads: Batcher<string, boolean>

  constructor(db: Db) {
    this.#reads = new Batcher({
      maxSize: 256,
      concurrency: 4,
      run: async (ids) => {
        const suspended = await listSuspendedTenants(db, [...new Set(ids)])
        return ids.map((id) => suspended.has(id))
      },
    })
  }

  isSuspended(tenantId: string): Promise<boolean> {
    return this.#reads.add(tenantId)
  }
}

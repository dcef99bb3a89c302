import { isId } from '@atrium/contract/tokens'
import { Batcher } from '@atrium/traffic/batcher'
import type { Db } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import type { Collection } from './collection.ts'
import { listCollectionsById } from './store.ts'

/** Reads collections by id; the reads of one moment share a query. */
export class CollectionReader {
  readonly #reads: Batcher<string, Collection | undefined>

  constructor(db: Db) {
    this.#reads = new Batcher({
      // Small batches, several at once: while the database answers one, the process serves another (measured against 32, 64, 256).
      maxSize: 16,
      concurrency: 4,
      run: async (ids) => {
        const found = new Map<string, Collection>()
        for (const collection of await listCollectionsById(db, [...new Set(ids)])) found.set(collection.id, collection)
        return ids.map((id) => found.get(id))
      },
    })
  }

  /** Throws not_found, alike for one that never was and one of another tenant. */
  async get(tenantId: string, id: string): Promise<Collection> {
    const collection = await this.findAnyTenant(id)
    if (!collection || collection.tenantId !== tenantId) throw new ApiError('not_found')
    return collection
  }

  /** For the share page, whose visitor knows only the link. */
  findAnyTenant(id: string): Promise<Collection | undefined> {
    return isId('collection', id) ? this.#reads.add(id) : Promise.resolve(undefined)
  }
}

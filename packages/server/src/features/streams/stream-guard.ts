import type { Db } from '#db/database.ts'
import { listCollectionGuards, type CollectionGuard } from '#features/collections/store.ts'
import type { KeyCache } from '#features/keys/key-cache.ts'
import { refusalOf } from '#features/keys/key.ts'
import { listSuspendedTenants } from '#features/tenants/store.ts'

/** What a stream needs to stay open: all that opening it was checked for, and that may end. */
export interface StreamGuard {
  tenantId: string
  /** Of the key that opened it; undefined: it needs none. */
  keyHash?: string | undefined
  collectionId?: string
  /** Of the owner token that opened it. */
  adminTokenHash?: Buffer
  /** Whether it needs the collection's wall. */
  isWall?: boolean
}

/** How long streams stay open while the database does not answer. With the interval of the checks under 15 seconds. */
const patienceMs = 10_000

/** Checks what open streams were opened with: many guards with a few queries. */
export class GuardCheck {
  readonly #db: Db
  readonly #keyCache: KeyCache
  #provedAtMs = performance.now()

  constructor(db: Db, keyCache: KeyCache) {
    this.#db = db
    this.#keyCache = keyCache
  }

  /** Returns the test of a guard as of now. */
  async check(guards: readonly StreamGuard[]): Promise<(guard: StreamGuard) => boolean> {
    const keys = await this.#findLivingKeys(guards)
    const rest = await this.#findRest(guards)
    return (guard) =>
      (guard.keyHash === undefined || keys.has(guard.keyHash)) && (rest === 'unknown' ? this.#isPatient() : holds(guard, rest))
  }

  #isPatient(): boolean {
    return performance.now() - this.#provedAtMs < patienceMs
  }

  /** A key that is in memory is at most 15 seconds old, and usually half that. One that cannot be loaded counts as ended. */
  async #findLivingKeys(guards: readonly StreamGuard[]): Promise<Set<string>> {
    const hashes = new Set(guards.flatMap(({ keyHash }) => keyHash ?? []))
    const living = new Set<string>()
    const look = async (hash: string) => {
      const key = await this.#keyCache.resolve(hash)
      if (!refusalOf(key, Date.now())) living.add(hash)
    }
    await Promise.all([...hashes].map((hash) => look(hash).catch(() => undefined)))
    return living
  }

  async #findRest(guards: readonly StreamGuard[]): Promise<Rest | 'unknown'> {
    const startedAtMs = performance.now()
    const walls = guards.filter(({ isWall }) => isWall)
    const collectionIds = new Set(guards.flatMap(({ collectionId }) => collectionId ?? []))
    try {
      const collections = await listCollectionGuards(this.#db, [...collectionIds])
      const suspended = await listSuspendedTenants(this.#db, [...new Set(walls.map(({ tenantId }) => tenantId))])
      this.#provedAtMs = startedAtMs
      return { collections, suspended }
    } catch {
      return 'unknown'
    }
  }
}

interface Rest {
  collections: Map<string, CollectionGuard>
  suspended: Set<string>
}

function holds({ tenantId, collectionId, adminTokenHash, isWall }: StreamGuard, { collections, suspended }: Rest): boolean {
  if (collectionId === undefined) return true
  const collection = collections.get(collectionId)
  if (!collection) return false
  if (adminTokenHash && !adminTokenHash.equals(collection.adminTokenHash)) return false
  return !isWall || (collection.wall && !suspended.has(tenantId))
}

import type { Db } from '#db/database.ts'
import type { CollectionState } from '#features/collections/collection.ts'
import { listCollectionGuards, type CollectionGuard } from '#features/collections/store.ts'
import type { KeyCache } from '#features/keys/key-cache.ts'
import { refusalOf } from '#features/keys/key.ts'
import { listSuspendedTenants } from '#features/tenants/store.ts'

/**
 * The conditions under which a stream stays open: everything that was checked when it was opened and that may
 * change.
 */
export interface StreamGuard {
  tenantId: string
  /** The hash of the key that opened it; undefined: it needs none. */
  keyHash?: string | undefined
  collectionId?: string
  /** The hash of the owner token that opened it. */
  adminTokenHash?: Buffer
  /**
   * For the stream of a wall: the state in the header of its answer. When the state changes, the stream ends, and the
   * viewer reads the new state from the next answer.
   */
  wallState?: CollectionState
}

/**
 * `deleted`: the collection of the stream was deleted. The stream ends with that event, which may not be read yet.
 */
type Verdict = 'holds' | 'deleted' | 'ended'

/**
 * How long streams stay open while the database does not answer. Together with the interval of the checks, less than
 * 15 seconds.
 */
const timeoutMs = 10_000

/** Checks the conditions of open streams: many guards with few queries. */
export class GuardCheck {
  readonly #db: Db
  readonly #keyCache: KeyCache
  #provedAtMs = performance.now()

  constructor(db: Db, keyCache: KeyCache) {
    this.#db = db
    this.#keyCache = keyCache
  }

  /** Returns the test of a guard as of now. */
  async check(guards: readonly StreamGuard[]): Promise<(guard: StreamGuard) => Verdict> {
    const keys = await this.#findLivingKeys(guards)
    const rest = await this.#findRest(guards)
    return (guard) => {
      if (guard.keyHash !== undefined && !keys.has(guard.keyHash)) return 'ended'
      if (rest === 'unknown') return this.#isPatient() ? 'holds' : 'ended'
      return verdictOf(guard, rest)
    }
  }

  /**
   * To be called instead of a check while no stream is open: the next stream starts with the full time limit, although no
   * check succeeded in between. What it needs is checked when it is opened, which is later.
   */
  skip(): void {
    this.#provedAtMs = performance.now()
  }

  #isPatient(): boolean {
    return performance.now() - this.#provedAtMs < timeoutMs
  }

  /** A cached key is at most 15 seconds old, and usually half that. A key that cannot be loaded counts as expired. */
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
    const walls = guards.filter(({ wallState }) => wallState)
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

function verdictOf(
  { tenantId, collectionId, adminTokenHash, wallState }: StreamGuard,
  { collections, suspended }: Rest,
): Verdict {
  if (collectionId === undefined) return 'holds'
  const collection = collections.get(collectionId)
  if (!collection) return 'deleted'
  if (adminTokenHash && !adminTokenHash.equals(collection.adminTokenHash)) return 'ended'
  if (wallState === undefined) return 'holds'
  return collection.wall && collection.state === wallState && !suspended.has(tenantId) ? 'holds' : 'ended'
}

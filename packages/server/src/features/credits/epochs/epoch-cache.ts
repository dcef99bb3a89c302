import type { KeyObject } from 'node:crypto'
import { Batcher } from '@atrium/traffic/batcher'
import type { Db } from '#db/database.ts'
import { readEpochKey } from '../blind-token.ts'
import type { Epoch } from './epoch.ts'
import { listEpochsById } from './store.ts'

/** An epoch with its key made ready to verify with. */
export type KnownEpoch = Epoch & { key: KeyObject }

const maxKnown = 1_000
const idPattern = /^[A-Za-z0-9_-]{43}$/
/**
 * The epochs used last, of whatever tenant. An epoch never changes, so what was read once is not read again; whether it has expired is for the
 * caller to ask at the time. What does not exist is not remembered: there is no end of it, and it may be published yet.
 */
export class EpochCache {
  readonly #known = new Map<string, KnownEpoch>()
  readonly #reads: Batcher<string, KnownEpoch | undefined>
  readonly #max: number

  constructor(db: Db, max = maxKnown) {
    this.#max = max
    this.#reads = new Batcher({
      maxSize: 100,
      concurrency: 2,
      run: async (ids) => {
        const found = new Map((await listEpochsById(db, [...new Set(ids)])).map((epoch) => [epoch.id, withKey(epoch)]))
        return ids.map((id) => found.get(id))
      },
    })
  }

  async find(id: string): Promise<KnownEpoch | undefined> {
    if (!idPattern.test(id)) return undefined
    const epoch = this.#known.get(id) ?? (await this.#reads.add(id))
    if (epoch) this.#keep(epoch)
    return epoch
  }

  /** The one used last goes to the end, and the first is the one to drop. */
  #keep(epoch: KnownEpoch): void {
    this.#known.delete(epoch.id)
    this.#known.set(epoch.id, epoch)
    if (this.#known.size <= this.#max) return
    const [oldest] = this.#known.keys()
    if (oldest !== undefined) this.#known.delete(oldest)
  }
}

function withKey(epoch: Epoch): KnownEpoch {
  return { ...epoch, key: readEpochKey(epoch.publicKey).key }
}

import type { KeyObject } from 'node:crypto'
import { Batcher } from '@atrium/traffic/batcher'
import type { Db } from '#db/database.ts'
import { proofUrl, type LogEntry } from '#features/transparency-log/entries.ts'
import { type RsaPublicKey, readEpochKey } from '../blind-token.ts'
import { listEpochsById } from './store.ts'

/** A key whose blind tokens can be redeemed. An epoch never changes. */
export interface Epoch {
  /** The thumbprint of the key. */
  id: string
  /** The tenant that pays for its tokens. */
  tenantId: string
  publicKey: RsaPublicKey
  /** The value of one token. */
  valueCredits: number
  createdAt: string
  /** undefined: its tokens never expire. */
  expiresAt: string | undefined
}

/** The epoch as the API shows it. `publicUrl` is the API's address, under which the log is. */
export function epochView(epoch: Epoch, publicUrl: string) {
  return { ...fieldsOf(epoch), log_proof: proofUrl(publicUrl, epochEntry(epoch)) }
}

function fieldsOf(epoch: Epoch) {
  return {
    epoch: epoch.id,
    issuer: epoch.tenantId,
    public_key: epoch.publicKey,
    value: epoch.valueCredits,
    created_at: epoch.createdAt,
    expires_at: epoch.expiresAt ?? null,
  }
}

/** What the transparency log has of an epoch. */
export function epochEntry(epoch: Epoch): LogEntry {
  const { public_key: key, ...view } = fieldsOf(epoch)
  const { kty, n, e } = key
  return {
    type: 'epoch',
    epoch: view.epoch,
    issuer: view.issuer,
    public_key: { kty, n, e },
    value: view.value,
    created_at: view.created_at,
    expires_at: view.expires_at,
  }
}

export interface TimedEpoch extends Epoch {
  /** When it expires by the clock of the database, as a time of this process's monotonic clock. */
  endsAtMs: number | undefined
}

/** An epoch with its key ready to verify with. */
export type CachedEpoch = TimedEpoch & { key: KeyObject }

const maxCached = 1_000
const idPattern = /^[A-Za-z0-9_-]{43}$/

/**
 * The most recently used epochs, of any tenant. An epoch never changes, so a cached one is never read again; the
 * caller checks whether it has expired. Unknown ids are not cached: there is no limit to them, and each may still be
 * published.
 */
export class EpochCache {
  readonly #cached = new Map<string, CachedEpoch>()
  readonly #loads: Batcher<string, CachedEpoch | undefined>
  readonly #max: number

  constructor(db: Db, max = maxCached) {
    this.#max = max
    this.#loads = new Batcher({
      maxSize: 100,
      concurrency: 2,
      run: async (ids) => {
        const found = new Map((await listEpochsById(db, [...new Set(ids)])).map((epoch) => [epoch.id, withKey(epoch)]))
        return ids.map((id) => found.get(id))
      },
    })
  }

  async find(id: string): Promise<CachedEpoch | undefined> {
    if (!idPattern.test(id)) return undefined
    const epoch = this.#cached.get(id) ?? (await this.#loads.add(id))
    if (epoch) this.#keep(epoch)
    return epoch
  }

  /** Moves the epoch to the end; the first one is the least recently used. */
  #keep(epoch: CachedEpoch): void {
    this.#cached.delete(epoch.id)
    this.#cached.set(epoch.id, epoch)
    if (this.#cached.size <= this.#max) return
    const [oldest] = this.#cached.keys()
    if (oldest !== undefined) this.#cached.delete(oldest)
  }
}

function withKey(epoch: TimedEpoch): CachedEpoch {
  return { ...epoch, key: readEpochKey(epoch.publicKey).key }
}

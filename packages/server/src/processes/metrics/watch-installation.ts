import { Gauge } from '#libraries/prom-client.js'
import { ByShard } from '#features/distribution/by-shard.ts'
import type { Context } from '#features/context.ts'
import { measureDatabase, measureQueues, type QueueState } from '#features/installation/queue-store.ts'

const queuesHoldMs = 5_000
const sizeHoldsMs = 60_000

/**
 * Adds the state of the queues, the size of the database and the space for stored files to the metrics of a job worker.
 * These are properties of the database and of the data folder. Every worker reports the same, and the highest value of
 * several is shown.
 */
export function watchInstallation({
  db,
  log,
  blobs,
  config,
  metrics: { registry },
  tenantShards,
}: Pick<Context, 'db' | 'log' | 'blobs' | 'config' | 'metrics' | 'tenantShards'>): void {
  const registers = [registry]
  const aggregator = 'max'
  const byShard = new ByShard(tenantShards)
  const readQueues = held(queuesHoldMs, () => measureQueues(db, byShard))
  const readSize = held(sizeHoldsMs, () => measureDatabase(db))
  const unlessFailed = async (read: Promise<void>) =>
    read.catch((error: unknown) => log.warn({ err: error }, 'the queues, the database or the disk cannot be measured'))
  const gauge = (name: string, help: string, pick: (queue: QueueState) => number) => {
    const made = new Gauge({
      name,
      help,
      labelNames: ['queue'],
      registers,
      aggregator,
      collect: () =>
        unlessFailed(readQueues().then((queues) => queues.forEach((queue) => made.set({ queue: queue.name }, pick(queue))))),
    })
  }
  gauge('atrium_queue_depth', 'Entries that are due and wait, by queue. Counted up to 10,000.', ({ depth }) => depth)
  gauge(
    'atrium_queue_oldest_seconds',
    'How long the oldest entry that is due has waited, by queue. 0: the queue is empty.',
    ({ oldestSeconds }) => oldestSeconds,
  )
  const size: Gauge = new Gauge({
    name: 'atrium_database_size_bytes',
    help: 'Size of the database, with indexes and what was deleted and not yet reclaimed.',
    registers,
    aggregator,
    collect: () => unlessFailed(readSize().then((bytes) => size.set(bytes))),
  })
  // Only the provider of an S3 store knows its space.
  if (config.blobs.store !== 'disk') return
  const disk = (name: string, help: string, pick: (disk: { freeBytes: number; totalBytes: number }) => number) => {
    const made: Gauge = new Gauge({
      name,
      help,
      registers,
      aggregator,
      collect: () =>
        unlessFailed(
          blobs.disk().then((found) => {
            if (found) made.set(pick(found))
          }),
        ),
    })
  }
  disk('atrium_blob_disk_size_bytes', 'Size of the disk that has the stored files.', ({ totalBytes }) => totalBytes)
  disk('atrium_blob_disk_free_bytes', 'Free space on the disk that has the stored files.', ({ freeBytes }) => freeBytes)
}

/** Reads at most once in `forMs`, however often it is called. A failure is not cached. */
function held<T>(forMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined
  let readAtMs = 0
  return () => {
    if (last && performance.now() - readAtMs < forMs) return last
    readAtMs = performance.now()
    last = read()
    last.catch(() => (last = undefined))
    return last
  }
}

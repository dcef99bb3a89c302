import type { Tx } from '../../packages/server/src/db/database.ts'
import { listShown } from '../../packages/server/src/features/events/outbox-store.ts'
import * as store from '../../packages/server/src/features/events/store.ts'
import * as streams from '../../packages/server/src/features/events/stream-store.ts'
import { eraseBatch } from '../../packages/server/src/features/tenant-data/erase-store.ts'
import * as deliveries from '../../packages/server/src/features/webhooks/delivery-store.ts'
import * as resending from '../../packages/server/src/features/webhooks/resend-store.ts'
import type { Recorded } from './item-statements.ts'

/** Every statement about the numbered events of a tenant, but those of SQL functions. They are recorded, and not sent. */
export async function listEventStatements(tenantId: string, collectionId: string): Promise<Recorded[]> {
  const recorded: Recorded[] = []
  // As if it had found what the next statement asks for.
  const row = { tenant_id: tenantId, sequence: 1, slot: 0, last: 1 }
  const found = new Set(['events-old-ends', 'webhooks-failed-default', 'webhooks-find-delivery-default'])
  const tx = {
    query: ({ name, text }: Recorded, values: unknown[]) => {
      recorded.push({ name, text, values })
      return Promise.resolve(found.has(name) ? [row] : [])
    },
    wake: () => undefined,
  } as unknown as Tx
  await store.listEvents(tx, tenantId, 0, 3)
  await streams.listNews(tx, new Map([[tenantId, 1]]), 3, { isSpread: true })
  await listShown(tx, new Map([[tenantId, 1]]))
  await streams.isInLog(tx, tenantId, 1)
  await streams.listCollectionEvents(tx, tenantId, collectionId, 0, 3)
  await streams.listOpenItemChanges(tx, tenantId, collectionId, 0, 3)
  await store.deleteOldSpreadEvents(tx, 30, 3)
  for (const endpointId of ['default', 'whe_a']) {
    const ref = { tenantId, endpointId }
    await deliveries.listDeliveries(tx, ref, 10, 3)
    await deliveries.listDue(tx, ref, [1], 3)
    await resending.queueAgain(tx, ref, 'evt_a')
    await resending.recoverFailed(tx, ref, { after: 0, since: '2026-01-01T00:00:00Z', pending: true, limit: 3 })
  }
  await eraseBatch(tx, tenantId)
  // The sweep looks in all shards at once for what is old, and its next statements name a tenant.
  return recorded.filter(({ name, text }) => /\b(from|join|update) events\b/.test(text) && name !== 'events-old-ends')
}

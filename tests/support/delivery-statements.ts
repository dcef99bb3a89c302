import type { Database, Tx } from '../../packages/server/src/db/database.ts'
import { ByShard } from '../../packages/server/src/features/distribution/by-shard.ts'
import { TenantShards } from '../../packages/server/src/features/distribution/tenant-shards.ts'
import { measureQueues } from '../../packages/server/src/features/installation/queue-store.ts'
import { eraseBatch } from '../../packages/server/src/features/tenant-data/erase-store.ts'
import * as deliveries from '../../packages/server/src/features/webhooks/delivery-store.ts'
import { settleQueue } from '../../packages/server/src/features/webhooks/queue-store.ts'
import * as resending from '../../packages/server/src/features/webhooks/resend-store.ts'
import { writeSpreadOutcomes } from '../../packages/server/src/features/webhooks/spread-outcome-store.ts'
import { deleteWebhook } from '../../packages/server/src/features/webhooks/store.ts'
import type { Recorded } from './item-statements.ts'

/** Records statements instead of sending them. `rows`: what the statement finds, by the beginning of its name. */
function recorder(rows: Record<string, object[]>): { tx: Tx; db: Database; recorded: Recorded[] } {
  const recorded: Recorded[] = []
  const query = ({ name, text }: Recorded, values: unknown[]) => {
    recorded.push({ name, text, values })
    const [, found = []] = Object.entries(rows).find(([begin]) => name.startsWith(begin)) ?? []
    return Promise.resolve(found)
  }
  const tx = { query, wake: () => undefined } as unknown as Tx
  const run = <T>(work: (tx: Tx) => Promise<T>) => work(tx)
  return { tx, db: { query, transaction: run, transactionOnce: run } as unknown as Database, recorded }
}

/** The statements that write the outcomes of attempts of one endpoint. `isFailing`: before that, they have failed. */
export async function listOutcomeStatements(
  { tenantId, endpointId }: { tenantId: string; endpointId: string },
  isFailing = false,
): Promise<Recorded[]> {
  const held = {
    tenant_id: tenantId,
    endpoint_id: endpointId,
    is_free: true,
    is_failing: isFailing,
    at: '2026-01-01T00:00:00.000Z',
  }
  const { db, recorded } = recorder({ 'webhooks-hold': [held], 'webhooks-write-spread': [{ ord: 1 }] })
  const succeeded = { succeeded: true, responseStatus: 204, error: null, ms: 1, answer: '', retryInMs: undefined }
  const attempt = { attempts: 0, dueAt: held.at, ...succeeded }
  const outcomes = [1, 2].map((sequence) => ({ tenantId, endpointId, sequence, ...attempt }))
  await writeSpreadOutcomes(db, 'nobody', outcomes)
  return recorded
}

/** Every statement about the deliveries of a tenant, but those of SQL functions. */
export async function listDeliveryStatements(tenantId: string): Promise<Recorded[]> {
  const row = { tenant_id: tenantId, endpoint_id: 'default', sequence: 1, slot: 0, last: 1, any: true, seconds: 1 }
  const further = { ...row, endpoint_id: 'whe_a' }
  const { tx, db, recorded } = recorder({
    'events-any-old': [row],
    'events-old-ends': [row],
    'events-delete-old-of-tenant': [row],
    'events-since': [row],
    'webhooks-failed': [row],
    'webhooks-find-delivery': [row],
    'webhooks-queue-state': [{ resends: 0, last_sequence: 1, numbered_lately: false }],
    'queues-marked': [row, further],
  })
  for (const endpointId of ['default', 'whe_a']) {
    const ref = { tenantId, endpointId }
    await deliveries.listDeliveries(tx, ref, 10, 3)
    await deliveries.listDue(tx, ref, [1], 3)
    await resending.queueAgain(tx, ref, 'evt_a')
    await resending.recoverFailed(tx, ref, { after: 0, since: '2026-01-01T00:00:00Z', pending: true, limit: 3 })
    await settleQueue(tx, ref)
    await deleteWebhook(tx, ref)
    recorded.push(...(await listOutcomeStatements(ref)))
  }
  await deliveries.forgetOldEvents(db, 3, 30, { isSpread: true })
  await measureQueues(db, new ByShard(new TenantShards([-(2 ** 31)])))
  await eraseBatch(tx, tenantId)
  return recorded.filter(({ text }) => /\b(from|join|update|into) webhook_(endpoint_)?deliveries\b/.test(text))
}

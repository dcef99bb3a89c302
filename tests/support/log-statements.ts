import type { Tx } from '../../packages/server/src/db/database.ts'
import { summariseKeyUse } from '../../packages/server/src/features/request-log/key-use-store.ts'
import { listRows, scanChunks, type RequestFilter } from '../../packages/server/src/features/request-log/store.ts'
import { countEntries, takeDurations } from '../../packages/server/src/features/request-log/summary-store.ts'
import { eraseBatch } from '../../packages/server/src/features/tenant-data/erase-store.ts'
import type { Recorded } from './item-statements.ts'

/** Every statement that reads or deletes logged requests of a tenant. They are recorded, and not sent. */
export async function listLogStatements(tenantId: string): Promise<Recorded[]> {
  const recorded: Recorded[] = []
  const tx = {
    query: ({ name, text }: Recorded, values: unknown[]) => {
      recorded.push({ name, text, values })
      return Promise.resolve([])
    },
  } as unknown as Tx
  const [from, until] = ['2026-01-01T00:00:00Z', '2036-01-01T00:00:00Z']
  const range = { after: { createdAt: until, id: 'req_z' }, from }
  const any: RequestFilter = {
    requestId: undefined,
    startedAt: undefined,
    statuses: [0, 599],
    method: undefined,
    path: undefined,
    keyIds: undefined,
  }
  const filters: RequestFilter[] = [
    any,
    { ...any, statuses: [400, 499], method: 'GET', path: '/tenant', keyIds: ['key_a'] },
    { ...any, requestId: 'req_a', startedAt: from },
  ]
  for (const filter of filters) {
    await scanChunks(tx, tenantId, range, filter, 7, 3, { at: until, id: 'req_a' })
    await listRows(tx, tenantId, range, filter, 7, 3)
  }
  await countEntries(tx, tenantId, from, 3_600)
  await takeDurations(tx, tenantId, from, 3_600)
  await summariseKeyUse(
    tx,
    tenantId,
    ['key_a', 'key_b'].map((id) => ({ id, until })),
    7,
  )
  await eraseBatch(tx, tenantId)
  return recorded.filter(({ text }) => /\bfrom request_log/.test(text))
}

import type { Context } from '#features/context.ts'
import { statement } from '#db/database.ts'
import { recordEvent } from '#features/events/record-event.ts'

const disableStatement = statement<{ failing_since: string }>(
  'webhooks-disable',
  `update webhooks set enabled = false
   where tenant_id = $2 and lease_owner = $1 and enabled and ($3 or failing_since <= now() - interval '5 days')
   returning coalesce(failing_since, now()) as failing_since`,
)

/** Disables an endpoint that is gone, or has done nothing but fail for five days, and tells its tenant. Whether it was so. */
export function disableEndpoint(
  { db }: Pick<Context, 'db'>,
  owner: string,
  tenantId: string,
  reason: 'gone' | 'failing',
): Promise<boolean> {
  return db.lane(tenantId).transaction(async (tx) => {
    const [disabled] = await tx.query(disableStatement, [owner, tenantId, reason === 'gone'])
    if (!disabled) return false
    await recordEvent(tx, tenantId, 'webhook.disabled', { reason, failing_since: disabled.failing_since })
    return true
  })
}

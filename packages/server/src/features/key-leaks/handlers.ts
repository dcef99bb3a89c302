import { limits } from '@atrium/contract/limits'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import type { Key } from '#features/keys/key.ts'
import { listKeysById } from '#features/keys/store.ts'
import { summariseKeyUse } from '#features/request-log/key-use-store.ts'
import { findRevokesLeakedKeys, updateRevokesLeakedKeys } from '#features/tenants/store.ts'
import { cutPageBy, filteredList, makeTimeCursor, readTimeCursor } from '#http/cursor.ts'
import { leakView } from './leak.ts'
import { reportLeakedKeys } from './report-leaked-keys.ts'
import { listLeaks } from './store.ts'

/** How long another process may still have accepted a key after its end, with a margin. */
const graceMs = 60_000

const listKeyLeaks: HandlerOf<'listKeyLeaks'> = async ({ ctx, tenantId, query }) => {
  const { limit = limits.pageDefault, cursor, ...filters } = query
  const list = filteredList(`key leaks:${tenantId}`, filters)
  const rows = await listLeaks(ctx.db, tenantId, { after: readTimeCursor(list, cursor), isValid: filters.valid }, limit + 1)
  const { page, nextCursor } = cutPageBy(rows, limit, ({ firstSeenAt, keyId }) =>
    makeTimeCursor(list, { createdAt: firstSeenAt, id: keyId }),
  )
  const keys = await listKeysById(
    ctx.db,
    tenantId,
    page.map(({ keyId }) => keyId),
  )
  const leaks = page.flatMap((leak) => {
    const key = keys.get(leak.keyId)
    return key ? [{ leak, key }] : []
  })
  // What this process has answered is in the summary.
  await ctx.requestLog.flush()
  const wanted = leaks.map(({ key }) => ({ id: key.id, until: acceptedUntil(key) }))
  const uses = await summariseKeyUse(ctx.db, tenantId, wanted, ctx.config.retentionDays.requests)
  const unused = { count: 0, since: null, origins: [], last: [], searchedFrom: null }
  return {
    status: 200,
    data: leaks.map(({ leak, key }) => leakView(leak, key, uses.get(key.id) ?? unused)),
    nextCursor,
  }
}

/** No process accepted a request with the key from this time on. */
function acceptedUntil({ revokedAt, expiresAt }: Key): string {
  const ends = [revokedAt, expiresAt].flatMap((at) => (at === null ? [] : [Date.parse(at)]))
  return ends.length === 0 ? 'infinity' : new Date(Math.min(...ends) + graceMs).toISOString()
}

const getKeyLeakPolicy: HandlerOf<'getKeyLeakPolicy'> = async ({ ctx, tenantId }) => ({
  status: 200,
  data: { action: (await findRevokesLeakedKeys(ctx.db, tenantId)) ? 'revoke' : 'notify' },
})

const setKeyLeakPolicy: HandlerOf<'setKeyLeakPolicy'> = async ({ tx, tenantId, body }) => {
  await updateRevokesLeakedKeys(tx, tenantId, body.action === 'revoke')
  return { status: 200, data: { action: body.action } }
}

export const keyLeakHandlers = {
  reportLeakedKeys,
  listKeyLeaks,
  getKeyLeakPolicy,
  setKeyLeakPolicy,
} satisfies Partial<Handlers>

import { newId } from '#crypto/random.ts'
import type { Tx } from '#db/database.ts'
import { recordAudit } from '#features/audit-log/record-audit.ts'
import { ApiError } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { shortOfCredit } from '#features/credits/short-of-credit.ts'
import { postMovements } from '#features/credits/ledger/ledger.ts'
import { issuerAccount, platformAccount, transactionId } from '#features/credits/ledger/movement.ts'
import type { HandlerOf } from '#features/handler.ts'
import { withSigningSecret } from '../agent-secrets.ts'
import { agentView, catalogView, ratingView } from '../agent.ts'
import { blankManifest, changedManifest } from '../manifest.ts'
import {
  findAgent,
  findAgentForUpdate,
  findAgentOfAnyTenant,
  insertAgent,
  listAgents as listRows,
  listAgentsOfAllTenants,
  listCatalogEntries,
  updateAgent as updateRow,
  updateAgentStatus,
} from '../store.ts'
import { limits } from '@atrium/contract/limits'
import { listSuspendedTenants } from '#features/tenants/store.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { setByOperator, setByOwner } from '../status.ts'

export const registerAgent: HandlerOf<'registerAgent'> = async ({ ctx, tx, tenantId, body }) => {
  const id = newId('agent')
  const declared = changedManifest(ctx, { ...blankManifest, tenantId, id }, body)
  const { manifest, secret } = withSigningSecret(ctx.vault, { tenantId, id }, declared)
  await chargeRegistration(ctx, tx, tenantId, id)
  const agent = await insertAgent(tx, tenantId, id, manifest)
  return { status: 201, data: { ...agentView(agent), ...(secret ? { signing_secret: secret } : {}) } }
}

/**
 * Charges the installation's fee, if any, to the tenant's balance. Throws insufficient_credit, which rolls the
 * registration back.
 */
async function chargeRegistration({ config }: Context, tx: Tx, tenantId: string, agentId: string): Promise<void> {
  if (config.agentFeeCredits === 0) return
  const [outcome] = await postMovements(tx, [
    {
      type: 'transfer',
      kind: 'fee',
      id: transactionId('agent-fee', agentId),
      from: issuerAccount(tenantId),
      to: platformAccount,
      amountCredits: config.agentFeeCredits,
      actor: tenantId,
    },
  ])
  if (outcome === 'insufficient') throw shortOfCredit('registration', config.agentFeeCredits, "the issuer's balance")
  if (outcome !== 'posted') throw new Error(`the fee of agent ${agentId} is ${outcome}`)
}

export const updateAgent: HandlerOf<'updateAgent'> = async ({ ctx, tx, tenantId, params, body }) => {
  const before = await findAgentForUpdate(tx, tenantId, params.agentId)
  if (!before) throw new ApiError('not_found')
  const declared = changedManifest(ctx, before, body)
  const { manifest, secret } = withSigningSecret(ctx.vault, before, declared, body.rotate_signing_secret)
  const after = await updateRow(tx, tenantId, before.id, manifest)
  return { status: 200, data: { ...agentView(after), ...(secret ? { signing_secret: secret } : {}) } }
}

export const getAgent: HandlerOf<'getAgent'> = async ({ ctx, tenantId, params }) => {
  const agent = await findAgent(ctx.db, tenantId, params.agentId)
  if (!agent) throw new ApiError('not_found')
  return { status: 200, data: agentView(agent) }
}

export const listAgents: HandlerOf<'listAgents'> = async ({ ctx, tenantId, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `agents:${tenantId}`
  const rows = await listRows(ctx.db, tenantId, { afterSeq: readCursor(list, query.cursor), limit: limit + 1 })
  const { page, nextCursor } = cutPage(list, rows, limit)
  return { status: 200, data: page.map(agentView), nextCursor }
}

export const listAllAgents: HandlerOf<'listAllAgents'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault } = query
  const list = 'agents of all tenants'
  const rows = await listAgentsOfAllTenants(ctx.db, { afterSeq: readCursor(list, query.cursor), limit: limit + 1 })
  const { page, nextCursor } = cutPage(list, rows, limit)
  return { status: 200, data: page, nextCursor }
}

const list = 'catalog'

export const listCatalog: HandlerOf<'listCatalog'> = async ({ ctx, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const entries = await listCatalogEntries(ctx.db, { afterSeq: readCursor(list, query.cursor), limit: limit + 1 })
  const { page, nextCursor } = cutPage(list, entries, limit)
  const suspended = await listSuspendedTenants(ctx.db, [...new Set(page.map(({ tenantId }) => tenantId))])
  const shown = page.filter(({ tenantId }) => !suspended.has(tenantId))
  return { status: 200, data: shown.map((entry) => catalogView(entry, ctx.config.publicUrl)), nextCursor }
}

export const getAgentRatings: HandlerOf<'getAgentRatings'> = async ({ ctx, tenantId, params }) => {
  const agent = await findAgentOfAnyTenant(ctx.db, params.agentId)
  if (!agent || (agent.tenantId !== tenantId && agent.status !== 'active')) throw new ApiError('not_found')
  return { status: 200, data: ratingView(agent) }
}

export const setAgentStatus: HandlerOf<'setAgentStatus'> = async ({ tx, tenantId, params, body }) => {
  const agent = await findAgentForUpdate(tx, tenantId, params.agentId)
  if (!agent) throw new ApiError('not_found')
  const status = setByOwner(agent, body.status)
  if (!status) throw new ApiError('state_conflict', { message: `The agent is ${agent.status}; an operator lifts that.` })
  return { status: 200, data: agentView(await updateAgentStatus(tx, tenantId, agent.id, status)) }
}

/**
 * The operator's call. Commits the status first, so that no launch follows the stop of the sessions; then ends the
 * sessions in transactions of their own.
 */
export const moderateAgent: HandlerOf<'moderateAgent'> = async ({ ctx, params, body, audit }) => {
  const { tenantId, id, name, status } = await ctx.db.lane(params.agentId).transaction(async (tx) => {
    const found = await findAgentOfAnyTenant(tx, params.agentId)
    const agent = found && (await findAgentForUpdate(tx, found.tenantId, found.id))
    if (!agent) throw new ApiError('not_found')
    await recordAudit(tx, audit, { tenant_id: agent.tenantId })
    return updateAgentStatus(tx, agent.tenantId, agent.id, setByOperator(agent, body.status))
  })
  if (status === 'suspended') await ctx.stopSessionsOfAgent(tenantId, id)
  return { status: 200, data: { id, tenant_id: tenantId, name, status } }
}

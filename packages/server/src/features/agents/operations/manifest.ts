import { newId } from '#crypto/random.ts'
import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { postMovements } from '#features/credits/ledger/ledger.ts'
import { issuerAccount, platformAccount, transactionId } from '#features/credits/ledger/movement.ts'
import type { HandlerOf } from '#features/handler.ts'
import { withSigningSecret } from '../agent-secrets.ts'
import { agentView } from '../agent.ts'
import { blankManifest, changedManifest } from '../manifest.ts'
import { findAgentForUpdate, insertAgent, updateAgent as updateRow } from '../store.ts'

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
  if (outcome === 'insufficient') throw new ApiError('insufficient_credit')
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

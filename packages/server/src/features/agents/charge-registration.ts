import type { Context } from '../context.ts'
import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { issuerAccount, platformAccount } from '../credits/ledger/account.ts'
import { transactionId } from '../credits/ledger/movement.ts'
import { postMovements } from '../credits/ledger/post.ts'

/** Takes the installation's fee, if it has one, from the tenant's balance. Throws insufficient_credit, which undoes the registration. */
export async function chargeRegistration({ config }: Context, tx: Tx, tenantId: string, agentId: string): Promise<void> {
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

import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { withSigningSecret } from '../agent-secrets.ts'
import { agentView } from '../agent.ts'
import { changedManifest } from '../changed-manifest.ts'
import { findAgentForUpdate, updateAgent as updateRow } from '../store.ts'

export const updateAgent: HandlerOf<'updateAgent'> = async ({ ctx, tx, tenantId, params, body }) => {
  const before = await findAgentForUpdate(tx, tenantId, params.agentId)
  if (!before) throw new ApiError('not_found')
  const declared = changedManifest(ctx, before, body)
  const { manifest, secret } = withSigningSecret(ctx.vault, before, declared, body.rotate_signing_secret)
  const after = await updateRow(tx, tenantId, before.id, manifest)
  return { status: 200, data: { ...agentView(after), ...(secret ? { signing_secret: secret } : {}) } }
}

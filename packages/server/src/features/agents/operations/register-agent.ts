import type { HandlerOf } from '#features/handler.ts'
import { newId } from '#crypto/random.ts'
import { agentView } from '../agent.ts'
import { blankManifest, changedManifest } from '../changed-manifest.ts'
import { chargeRegistration } from '../charge-registration.ts'
import { withSigningSecret } from '../signing-secret.ts'
import { insertAgent } from '../store.ts'

export const registerAgent: HandlerOf<'registerAgent'> = async ({ ctx, tx, tenantId, body }) => {
  const id = newId('agent')
  const asked = changedManifest(ctx, { ...blankManifest, tenantId, id }, body)
  const { manifest, secret } = withSigningSecret(ctx.vault, { tenantId, id }, asked)
  await chargeRegistration(ctx, tx, tenantId, id)
  return {
    status: 201,
    data: { ...agentView(await insertAgent(tx, tenantId, id, manifest)), ...(secret ? { signing_secret: secret } : {}) },
  }
}

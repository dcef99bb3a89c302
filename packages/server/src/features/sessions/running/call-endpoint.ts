import { Webhook } from 'standardwebhooks'
import type { Context } from '#features/context.ts'
import { openSigningSecret } from '#features/agents/signing-secret.ts'
import { findAgent } from '#features/agents/store.ts'
import type { Session } from '../session.ts'

/**
 * Sends a request to a remote agent's endpoint, signed as Standard Webhooks has it with the secret that its owner got at the registration.
 * Gives the status of the answer. `assertMay` is called right before it is sent. @throws EgressError
 */
export async function callEndpoint(
  ctx: Context,
  session: Session,
  messageId: string,
  body: object,
  { signal, assertMay }: { signal?: AbortSignal; assertMay?: () => void } = {},
): Promise<number> {
  const agent = await findAgent(ctx.db, session.agentTenantId, session.agentId)
  if (!agent || session.agent.endpoint === null) throw new Error(`session ${session.id} has no endpoint to call`)
  const text = JSON.stringify(body)
  const now = new Date()
  assertMay?.()
  const answer = await ctx.egress.send({
    method: 'POST',
    url: session.agent.endpoint,
    headers: {
      'content-type': 'application/json',
      'webhook-id': messageId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(openSigningSecret(ctx.vault, agent)).sign(messageId, now, text),
    },
    body: text,
    timeoutMs: 8_000,
    ...(signal ? { signal } : {}),
  })
  return answer.status
}

import type { Static } from 'typebox'
import type { AgentPatch } from '@atrium/contract/agent-schemas'
import { invalid } from '#errors/api-error.ts'
import type { Egress } from '#ports/egress/egress.ts'
import type { Context } from '../context.ts'
import { openToolSecrets, sealToolSecrets } from './agent-secrets.ts'
import type { Manifest } from './agent.ts'
import { declareTools } from './declare-tools.ts'

/** The defaults of a registration. */
export const blankManifest: Manifest = {
  name: '',
  description: '',
  instructions: '',
  model: null,
  endpoint: null,
  tools: [],
  toolSecrets: null,
  signingSecret: null,
  priceCredits: 0,
  maxMinutes: 1,
  greeting: null,
  avatarUrl: null,
}

type Before = Manifest & { tenantId: string; id: string }

/**
 * The manifest with the change applied. An absent field stays as it is; null removes an optional one. Throws 400 where
 * this installation may not call an address, a tool's parameters are no JSON Schema, or the agent would have both a
 * model and an endpoint.
 */
export function changedManifest(ctx: Context, before: Before, change: Static<typeof AgentPatch>): Manifest {
  const { model = before.model, greeting = before.greeting } = change
  const address = (text: string, path: string) => checkedAddress(ctx.egress, text, path)
  const optionalAddress = (text: string | null | undefined, path: string, old: string | null) =>
    typeof text === 'string' ? address(text, path) : text === null ? null : old
  const endpoint = optionalAddress(change.endpoint, '/endpoint', before.endpoint)
  // The platform runs an agent with a model; one with an endpoint runs elsewhere.
  if (model && endpoint) throw invalid('/endpoint', 'an agent has a model or an endpoint, not both')
  return {
    name: change.name ?? before.name,
    description: change.description ?? before.description,
    instructions: change.instructions ?? before.instructions,
    model,
    endpoint,
    ...changedTools(ctx, before, change.tools, address),
    priceCredits: change.price_credits ?? before.priceCredits,
    maxMinutes: change.max_minutes ?? before.maxMinutes,
    greeting,
    signingSecret: before.signingSecret,
    avatarUrl: optionalAddress(change.avatar_url, '/avatar_url', before.avatarUrl),
  }
}

function changedTools(
  { vault }: Context,
  before: Before,
  declarations: Static<typeof AgentPatch>['tools'],
  address: (text: string, path: string) => string,
): Pick<Manifest, 'tools' | 'toolSecrets'> {
  if (!declarations) return { tools: before.tools, toolSecrets: before.toolSecrets }
  const { tools, secrets } = declareTools(declarations, openToolSecrets(vault, before), address)
  return { tools, toolSecrets: sealToolSecrets(vault, before, secrets) }
}

/** The address in its normal form. Throws 400 where this installation may not call it. */
function checkedAddress(egress: Egress, text: string, path: string): string {
  const checked = egress.checkUrl(text)
  if (!checked.ok) throw invalid(path, checked.message)
  return checked.url.href
}

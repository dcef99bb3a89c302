import type { Context } from '#features/context.ts'
import type { Model } from '#ports/model/model.ts'

/**
 * Counts and times the calls of a model. Nothing of what is said is recorded, nor the name of the model, which is a
 * text of the agent's owner.
 */
export function observedModel(
  { metrics }: Pick<Context, 'metrics'>,
  of: { provider: string; id: string } | undefined,
  model: Model,
): Model {
  const provider = of?.provider ?? 'echo'
  return {
    reply: (request) =>
      metrics.measure('model_call', async (span) => {
        span.set({ 'gen_ai.provider.name': provider })
        const reply = await model.reply(request)
        metrics.usedTokens(provider, reply.usage)
        const { inputTokens, outputTokens } = reply.usage
        span.set({ 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens })
        return reply
      }),
  }
}

import type { HandlerOf, Handlers } from '#features/handler.ts'

export const resealSecrets: HandlerOf<'resealSecrets'> = async ({ ctx }) => {
  const { resealed, keys } = await ctx.resealer.run()
  const needs = keys.map(({ answersUntil, ...same }) => ({ ...same, answers_until: answersUntil }))
  return { status: 200, data: { resealed, keys: needs } }
}

export const installationHandlers = { resealSecrets } satisfies Partial<Handlers>

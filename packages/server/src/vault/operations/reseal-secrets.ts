import type { HandlerOf } from '../../http/call.ts'
import { reseal } from '../reseal.ts'

export const resealSecrets: HandlerOf<'resealSecrets'> = async (ctx) => {
  const { masterKey, resealed, remaining, answers } = await reseal(ctx.db, ctx.vault)
  return { status: 200, data: { master_key: masterKey, resealed, remaining, stored_answers: answers } }
}

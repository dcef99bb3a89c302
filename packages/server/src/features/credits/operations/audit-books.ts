import type { HandlerOf } from '../../../http/call.ts'

export const auditBooks: HandlerOf<'auditBooks'> = async (ctx) => ({ status: 200, data: await ctx.auditor.run() })

import type { HandlerOf } from '#features/handler.ts'

export const auditBooks: HandlerOf<'auditBooks'> = async ({ ctx }) => ({ status: 200, data: await ctx.auditor.run() })

import { ApiError, invalid } from '#errors/api-error.ts'
import { findTenant } from '#features/tenants/store.ts'
import type { HandlerOf, Handlers } from '../handler.ts'
import { createMember, listMembers, removeMember, updateMember } from './members.ts'
import { makeLink } from './sign-in.ts'

const createConsoleLink: HandlerOf<'createConsoleLink'> = async ({ ctx, tx, body }) => {
  const { kind, tenant_id: tenantId } = body
  if ((kind === 'tenant') !== (tenantId !== undefined))
    throw invalid('/tenant_id', kind === 'tenant' ? 'required' : 'is only valid for the kind tenant')
  if (tenantId !== undefined && !(await findTenant(tx, tenantId)))
    throw new ApiError('not_found', { message: 'There is no tenant with the id in tenant_id.' })
  const target = tenantId === undefined ? ({ kind: 'operator' } as const) : ({ kind: 'tenant', tenantId } as const)
  const { url, expiresAt } = await makeLink(tx, ctx.config.consoleUrl, target)
  return { status: 201, data: { kind, tenant_id: tenantId ?? null, url, expires_at: expiresAt } }
}

export const consoleHandlers = {
  createConsoleLink,
  listMembers,
  createMember,
  updateMember,
  removeMember,
} satisfies Partial<Handlers>

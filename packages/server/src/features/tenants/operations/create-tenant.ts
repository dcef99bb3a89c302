import type { HandlerOf } from '#features/handler.ts'
import { openTenant } from '../open-tenant.ts'

export const createTenant: HandlerOf<'createTenant'> = async ({ tx, body }) => {
  const roles = body.roles && body.roles.length > 0 ? body.roles : null
  return { status: 201, data: await openTenant(tx, { name: body.name, email: body.email ?? null, roles }) }
}

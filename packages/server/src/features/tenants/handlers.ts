import type { Handlers } from '../handler.ts'
import { createInvite } from './operations/create-invite.ts'
import { createTenant, signUpTenant } from './operations/create-tenant.ts'
import { getTenant } from './operations/get-tenant.ts'
import { setTenantStatus } from './operations/set-tenant-status.ts'

export const tenantHandlers = {
  signUpTenant,
  createTenant,
  setTenantStatus,
  createInvite,
  getTenant,
} satisfies Partial<Handlers>

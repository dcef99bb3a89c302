import type { Handlers } from '../handler.ts'
import { getTenantLimits, setTenantLimits } from './operations/tenant-limits.ts'

export const limitHandlers = { getTenantLimits, setTenantLimits } satisfies Partial<Handlers>

import type { LimitName } from '@atrium/contract/limit-names'

export type TenantLimits = Record<LimitName, number>
export type Overrides = Partial<TenantLimits>

/** The limits in force for a tenant. */
export function limitsWith(defaults: TenantLimits, overrides: Overrides): TenantLimits {
  return { ...defaults, ...overrides }
}

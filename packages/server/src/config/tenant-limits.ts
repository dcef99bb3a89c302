import type { limitNames } from '@atrium/contract/tenant-limits'

/** See the contract's tenant-limits.ts for what each is. */
export type LimitName = (typeof limitNames)[number]
export type TenantLimits = Record<LimitName, number>
export type Overrides = Partial<TenantLimits>

/** The limits in force for a tenant. */
export function limitsWith(defaults: TenantLimits, overrides: Overrides): TenantLimits {
  return { ...defaults, ...overrides }
}

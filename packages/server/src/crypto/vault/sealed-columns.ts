/**
 * Every column whose values a vault seals for their row: `tenant` and `row` are the SQL that gives what its values are
 * bound to. A value can only be sealed for a column of this list, so that a new master key reaches each of them.
 */
export const sealedColumns = [
  { table: 'agents', column: 'tool_secrets', tenant: 'tenant_id', row: 'id' },
  { table: 'agents', column: 'signing_secret', tenant: 'tenant_id', row: 'id' },
  { table: 'artifacts', column: 'access_list', tenant: 'tenant_id', row: 'id' },
  { table: 'checkouts', column: 'license_sealed', tenant: 'tenant_id', row: 'id' },
  { table: 'items', column: 'access_list', tenant: 'tenant_id', row: 'id' },
  { table: 'platform_keys', column: 'private_sealed', tenant: "'platform'", row: "purpose || ' ' || id" },
  { table: 'provider_keys', column: 'key_sealed', tenant: 'tenant_id', row: 'provider' },
  { table: 'sessions', column: 'mk_sealed', tenant: 'tenant_id', row: 'id' },
  { table: 'sessions', column: 'coupon_sealed', tenant: 'tenant_id', row: 'id' },
  { table: 'webhook_secrets', column: 'sealed', tenant: 'tenant_id', row: 'id' },
  // The last: while anything before it needs an old master key, a start without that key is refused.
  { table: 'master_key_check', column: 'sealed', tenant: "'platform'", row: 'name' },
] as const

export type SealedColumn = (typeof sealedColumns)[number]

/** Where a sealed value lives. It opens only there: ciphertext moved to another row, column or tenant is refused. */
export type SealedRef = PlaceIn<SealedColumn>

type PlaceIn<Column> = Column extends SealedColumn ? Pick<Column, 'table' | 'column'> & { tenant: string; row: string } : never

/**
 * Every column whose values a vault seals. `tenant` and `row` are the SQL of what a value is bound to. A value can
 * only be sealed for a column of this list, so that a change of the master key reaches every value. `key`: for a table
 * that may be spread over a Citus cluster, what names a row in the whole table.
 */
export const sealedColumns = [
  { table: 'agents', column: 'tool_secrets', tenant: 'tenant_id', row: 'id' },
  { table: 'agents', column: 'signing_secret', tenant: 'tenant_id', row: 'id' },
  { table: 'artifacts', column: 'access_list', tenant: 'tenant_id', row: 'id' },
  { table: 'checkouts', column: 'license_sealed', tenant: 'tenant_id', row: 'id' },
  { table: 'items', column: 'access_list', tenant: 'tenant_id', row: 'id', key: ['tenant_id', 'collection_id', 'seq'] },
  { table: 'platform_keys', column: 'private_sealed', tenant: "'platform'", row: "purpose || ' ' || id" },
  { table: 'provider_keys', column: 'key_sealed', tenant: 'tenant_id', row: 'provider' },
  { table: 'sessions', column: 'mk_sealed', tenant: 'tenant_id', row: 'id' },
  { table: 'sessions', column: 'device_sealed', tenant: 'tenant_id', row: 'id' },
  { table: 'sessions', column: 'coupon_sealed', tenant: 'tenant_id', row: 'id' },
  { table: 'webhook_secrets', column: 'sealed', tenant: 'tenant_id', row: 'id' },
  { table: 'webhook_endpoint_secrets', column: 'sealed', tenant: 'tenant_id', row: 'id' },
  // The last one: while anything before it needs an old master key, a start without that key is refused.
  { table: 'master_key_check', column: 'sealed', tenant: "'platform'", row: 'name' },
] as const

export type SealedColumn = (typeof sealedColumns)[number]

/**
 * The place of a sealed value. The value opens only there: ciphertext that was moved to another row, column or
 * tenant is rejected.
 */
export type SealedRef = PlaceIn<SealedColumn>

type PlaceIn<Column> = Column extends SealedColumn ? Pick<Column, 'table' | 'column'> & { tenant: string; row: string } : never

/** The limits that differ between tenants. See tenant-limits.ts for what each is. */
export const limitNames = [
  'paints_per_address',
  'paints_per_collection',
  'paints_per_day',
  'upload_bytes_per_address',
  'stored_bytes',
  'open_streams',
  'paints_per_month',
  'active_sessions',
  'pending_launches',
  'active_generations',
  'open_uploads',
  'open_upload_bytes',
  'open_uploads_in_collection',
  'rate_percent',
] as const

export type LimitName = (typeof limitNames)[number]

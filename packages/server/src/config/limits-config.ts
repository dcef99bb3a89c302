import { limits } from '@atrium/contract/limits'
import type { TenantLimits } from './tenant-limits.ts'
import type { Env } from './env.ts'
import { integer } from './integer.ts'

const gibibyte = 1024 ** 3
const most = Number.MAX_SAFE_INTEGER

/** Paintings per tenant and month without a coupon. */
function paintAllowance(env: Env): number {
  return integer('ATRIUM_PAINT_ALLOWANCE', env.paintAllowance ?? '1000', 0, 1_000_000_000)
}

/** How many event streams one API process has open at once, in total and per IP address. */
export function readStreamLimits(env: Env): { perProcess: number; perAddress: number } {
  return {
    perProcess: integer('ATRIUM_STREAMS', env.streams ?? '5000', 0, 100_000),
    perAddress: integer('ATRIUM_STREAMS_PER_ADDRESS', env.streamsPerAddress ?? '200', 0, 100_000),
  }
}

/** The default limits of a tenant. */
export function readLimits(env: Env): TenantLimits {
  const paintsPerMonth = paintAllowance(env)
  const aTenth = Math.ceil(paintsPerMonth / 10)
  const read = (name: string, text: string | undefined, absent: number) => integer(name, text ?? String(absent), 0, most)
  return {
    paints_per_address: read('ATRIUM_PAINTS_PER_ADDRESS', env.paintsPerAddress, 200),
    paints_per_collection: read('ATRIUM_PAINTS_PER_COLLECTION', env.paintsPerCollection, 200),
    paints_per_day: read('ATRIUM_PAINTS_PER_DAY', env.paintsPerDay, aTenth),
    upload_bytes_per_address: read('ATRIUM_UPLOAD_BYTES_PER_ADDRESS', env.uploadBytesPerAddress, gibibyte),
    stored_bytes: read('ATRIUM_STORED_BYTES', env.storedBytes, 20 * gibibyte),
    open_streams: read('ATRIUM_STREAMS_PER_TENANT', env.streamsPerTenant, 2_000),
    paints_per_month: paintsPerMonth,
    active_sessions: limits.activeSessions,
    pending_launches: limits.pendingLaunches,
    active_generations: limits.activeGenerations,
    open_uploads: limits.openUploads,
    open_upload_bytes: limits.openUploadBytes,
    open_uploads_in_collection: limits.openUploadsInCollection,
    rate_percent: 100,
  }
}

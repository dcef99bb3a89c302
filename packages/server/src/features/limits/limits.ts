import type { Context } from '../context.ts'
import { type TenantLimits, limitsWith } from '#config/tenant-limits.ts'
import type { Db, Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { type DailyCount, addToDailyCount, deleteCountsBefore, findOverrides, findStoredBytes } from './store.ts'
import { limitAddress } from '@atrium/traffic/client-address'

/** The tenant's limits: the installation's, except for those that an operator has overridden. */
export async function findLimits({ config }: Pick<Context, 'config'>, db: Db, tenantId: string): Promise<TenantLimits> {
  return limitsWith(config.limits, await findOverrides(db, tenantId))
}

/** The limits as the API returns them to operators. */
export async function readLimitsView({ config }: Pick<Context, 'config'>, db: Db, tenantId: string) {
  const overrides = await findOverrides(db, tenantId)
  return { limits: limitsWith(config.limits, overrides), overrides, stored_bytes_used: await findStoredBytes(db, tenantId) }
}

/**
 * Throws if these bytes, with those stored and those announced for upload, would exceed the tenant's quota. The check
 * is exact only if the caller holds the lock of the tenant's uploads (lockUploads), under which all that adds bytes is
 * decided.
 */
export async function assertQuota(
  ctx: Pick<Context, 'config'>,
  tx: Tx,
  tenantId: string,
  { bytes, announced }: { bytes: number; announced: number },
): Promise<void> {
  const { stored_bytes: limit } = await findLimits(ctx, tx, tenantId)
  const stored = await findStoredBytes(tx, tenantId)
  if (stored + announced + bytes > limit) throw quotaExceeded(stored, limit)
}

function quotaExceeded(stored: number, limit: number): ApiError {
  const message = `Your account may store ${limit} bytes. ${stored} bytes are stored, and announced uploads count too. Delete artifacts that you no longer need, or ask the operator of this installation for a higher quota.`
  return new ApiError('quota_exceeded', { message })
}

/** A caller with a publishable key, as the daily limits count it. */
export interface PublicCaller {
  tenantId: string
  collectionId: string
  address: string
}

/**
 * Counts a paint, or throws if a daily limit is reached. A paint that a coupon pays for does not count towards the
 * tenant's own limit.
 */
export async function takePaint(ctx: Context, tx: Tx, caller: PublicCaller, isPaid: boolean): Promise<void> {
  const limits = await findLimits(ctx, tx, caller.tenantId)
  // All requests lock these rows in one order, from the narrowest to the widest, so that no two deadlock.
  await take(tx, addressCount(ctx, caller, 'paints_per_address'), 1, limits, tooManyPaints('this address'))
  await take(tx, dailyCount(caller, 'paints_per_collection', caller.collectionId), 1, limits, tooManyPaints('this collection'))
  if (!isPaid) await take(tx, dailyCount(caller, 'paints_per_day', ''), 1, limits, tooManyPaints('all publishable keys together'))
}

/** Counts the bytes of an announced upload, or throws if they exceed the address's daily limit. */
export async function takeUploadBytes(ctx: Context, tx: Tx, caller: PublicCaller, bytes: number): Promise<void> {
  const limits = await findLimits(ctx, tx, caller.tenantId)
  await take(tx, addressCount(ctx, caller, 'upload_bytes_per_address'), bytes, limits, (limit) => {
    const message = `With a publishable key, an address may upload at most ${limit} bytes a day. Try again after midnight UTC, or upload with the secret key.`
    return new ApiError('quota_exceeded', { message, retryAfterSeconds: secondsUntilMidnight() })
  })
}

/** Deletes up to `limit` counts of past days. Returns how many. */
export function deletePastCounts({ db }: Pick<Context, 'db'>, limit: number): Promise<number> {
  return deleteCountsBefore(db, today(), limit)
}

async function take(
  tx: Tx,
  count: DailyCount,
  amount: number,
  limits: TenantLimits,
  refusal: (limit: number) => ApiError,
): Promise<void> {
  const limit = limits[count.meter]
  if (!(await addToDailyCount(tx, count, amount, limit))) throw refusal(limit)
}

function dailyCount({ tenantId }: PublicCaller, meter: DailyCount['meter'], subject: string): DailyCount {
  return { tenantId, day: today(), meter, subject }
}

/**
 * The address is hashed with the master key, the tenant and the day. So one address cannot be followed between days or
 * tenants, and the database alone does not suffice to guess it. When a new master key begins to seal, the counts of
 * that day restart from zero.
 */
export function hashAddress({ vault }: Pick<Context, 'vault'>, tenantId: string, address: string): string {
  const secret = JSON.stringify(['address', tenantId, today()])
  return vault.fingerprintWith(secret, Buffer.from(limitAddress(address))).toString('base64url')
}

function addressCount(ctx: Pick<Context, 'vault'>, caller: PublicCaller, meter: DailyCount['meter']): DailyCount {
  return dailyCount(caller, meter, hashAddress(ctx, caller.tenantId, caller.address))
}

function tooManyPaints(who: string): (limit: number) => ApiError {
  return (limit) => {
    const message = `With publishable keys, ${who} may paint ${limit} times a day. Try again after midnight UTC, or paint with the secret key.`
    return new ApiError('rate_limited', { message, retryAfterSeconds: secondsUntilMidnight() })
  }
}

const dayMs = 24 * 60 * 60 * 1_000

/** The date in UTC. */
function today(): string {
  return new Date().toISOString().slice(0, 10)
}

/** Until midnight UTC. */
function secondsUntilMidnight(): number {
  return Math.ceil((dayMs - (Date.now() % dayMs)) / 1_000)
}

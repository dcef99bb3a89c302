import { limitAddress } from '@atrium/traffic/client-address'
import type { Context } from '../context.ts'
import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { deleteCountsBefore, findOverrides, takeDaily, type DailyCount } from './store.ts'
import { limitsWith, type TenantLimits } from '#config/tenant-limits.ts'

/** What a request that came with a publishable key counts by. */
export interface Visitor {
  tenantId: string
  collectionId: string
  address: string
}

/** Counts a paint, or throws where one of the day's limits is reached. Paints that a coupon pays for do not touch the month's allowance. */
export async function takePaint(ctx: Context, tx: Tx, visitor: Visitor, paysItself: boolean): Promise<void> {
  const limits = await limitsOf(ctx, tx, visitor.tenantId)
  // In one order everywhere, from the narrowest to the widest, so that no two requests wait for each other.
  await take(tx, addressCount(ctx, visitor, 'paints_per_address'), 1, limits, tooManyPaints('this address'))
  await take(tx, count(visitor, 'paints_per_collection', visitor.collectionId), 1, limits, tooManyPaints('this collection'))
  if (!paysItself) await take(tx, count(visitor, 'paints_per_day', ''), 1, limits, tooManyPaints('all publishable keys together'))
}

/** Counts the bytes of an upload that is announced, or throws where they pass the day's limit of the address. */
export async function takeUploadBytes(ctx: Context, tx: Tx, visitor: Visitor, bytes: number): Promise<void> {
  const limits = await limitsOf(ctx, tx, visitor.tenantId)
  await take(tx, addressCount(ctx, visitor, 'upload_bytes_per_address'), bytes, limits, (limit) => {
    const message = `With a publishable key, an address uploads at most ${limit} bytes a day. Try again after midnight UTC, or upload with the secret key.`
    return new ApiError('quota_exceeded', { message, retryAfterSeconds: secondsOfToday() })
  })
}

export async function limitsOf({ config }: Pick<Context, 'config'>, tx: Tx, tenantId: string): Promise<TenantLimits> {
  return limitsWith(config.limits, await findOverrides(tx, tenantId))
}

/** Forgets the counts of days that are over, up to so many; says how many. */
export function forgetPastCounts({ db }: Pick<Context, 'db'>, batch: number): Promise<number> {
  return deleteCountsBefore(db, today(), batch)
}

async function take(
  tx: Tx,
  one: DailyCount,
  amount: number,
  limits: TenantLimits,
  refusal: (limit: number) => ApiError,
): Promise<void> {
  if (!(await takeDaily(tx, one, amount, limits[one.meter]))) throw refusal(limits[one.meter])
}

function count({ tenantId }: Visitor, meter: DailyCount['meter'], subject: string): DailyCount {
  return { tenantId, day: today(), meter, subject }
}

/**
 * The address is hashed with the master key, the tenant and the day: the same one cannot be followed from day to day or from tenant to tenant,
 * nor guessed by who has the database alone. On the day on which another master key begins to seal, it counts from zero once more.
 */
function addressCount({ vault }: Pick<Context, 'vault'>, visitor: Visitor, meter: DailyCount['meter']): DailyCount {
  const secret = JSON.stringify(['address', visitor.tenantId, today()])
  const hashed = vault.fingerprintWith(secret, Buffer.from(limitAddress(visitor.address)))
  return count(visitor, meter, hashed.toString('base64url'))
}

function tooManyPaints(who: string): (limit: number) => ApiError {
  return (limit) => {
    const message = `With publishable keys, ${who} may paint ${limit} times a day. Try again after midnight UTC, or paint with the secret key.`
    return new ApiError('rate_limited', { message, retryAfterSeconds: secondsOfToday() })
  }
}

const dayMs = 24 * 60 * 60 * 1_000

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

/** Until midnight UTC. */
function secondsOfToday(): number {
  return Math.ceil((dayMs - (Date.now() % dayMs)) / 1_000)
}

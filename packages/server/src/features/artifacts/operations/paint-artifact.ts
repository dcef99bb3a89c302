import { randomInt } from 'node:crypto'
import type { Context } from '#features/context.ts'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { newId } from '#crypto/random.ts'
import { findPayer } from '#features/credits/ledger/code-account-store.ts'
import { takePaint } from '#features/limits/daily-limits.ts'
import { assertQuota } from '#features/limits/quota.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { artifactEvent } from '../artifact.ts'
import type { PaintInput } from '../generation/job.ts'
import { useAllowance } from '../generation/job-store.ts'
import { startGeneration } from '../generation/generation-lifecycle.ts'
import { insertPendingArtifact } from '../store.ts'

/** A coupon pays for the picture. Without a coupon, it uses one of the month's free paints. */
export const paintArtifact: HandlerOf<'paintArtifact'> = async ({ ctx, tx, tenantId, key, address, collection, body }) => {
  const [width, height] = (body.size ?? '1024x1024').split('x').map(Number) as [number, number]
  const input: PaintInput = {
    prompt: body.prompt,
    width,
    height,
    seed: body.seed ?? randomInt(2 ** 32),
    ...(body.provider === undefined ? {} : { provider: body.provider }),
    ...(body.model === undefined ? {} : { model: body.model }),
  }
  const work = { collectionId: collection.id, kind: 'paint' as const, input }
  const artifact = { kind: 'image' as const, source: 'paint' as const, title: null }
  const payer = body.coupon === undefined ? null : await payerOf(ctx, body.coupon)
  await assertQuota(ctx, tx, tenantId, { bytes: 1, announced: 0 })
  if (key.kind === 'publishable') await takePaint(ctx, tx, { tenantId, collectionId: collection.id, address }, payer !== null)
  const fromAllowance = payer === null && (await useAllowance(tx, tenantId, ctx.config.paintAllowance))
  if (payer === null && !fromAllowance) {
    const id = newId('artifact')
    const error = {
      code: 'quota_exceeded',
      message: "This month's free paints are used up. Pay with a coupon, or wait for the next month.",
    }
    const status = 'quota_exceeded'
    await insertPendingArtifact(tx, tenantId, collection.id, { id, ...artifact, status, stage: 'done', error })
    const data = { ...artifactEvent(collection.id, { id, ...artifact }), status, error_code: error.code } as const
    await recordEvent(tx, tenantId, 'artifact.failed', data)
    return { status: 202, data: { id, status: 'painting' } }
  }
  const priceCredits = payer ? ctx.config.paintPrice : 0
  const id = await startGeneration(tx, tenantId, { ...work, priceCredits, payer, fromAllowance }, artifact)
  return { status: 202, data: { id, status: 'painting' } }
}

async function payerOf(ctx: Context, coupon: string) {
  const payer = await findPayer(ctx.db, coupon)
  if (!payer) throw new ApiError('insufficient_credit')
  return payer.account
}

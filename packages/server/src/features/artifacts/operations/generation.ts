import { randomInt } from 'node:crypto'
import { newId } from '#crypto/random.ts'
import { invalid } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { findPayer } from '#features/credits/ledger/store.ts'
import { nothingUnderCoupon } from '#features/credits/short-of-credit.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { listChosenItems } from '#features/items/store.ts'
import { assertQuota, findLimits, takePaint } from '#features/limits/limits.ts'
import { artifactEvent } from '../artifact.ts'
import { startGeneration } from '../generation/generation-lifecycle.ts'
import { type PaintInput, useAllowance } from '../generation/job-store.ts'
import { insertPendingArtifact, listChosenArtifacts } from '../store.ts'

/** A coupon pays for the picture. Without a coupon, it uses one of the month's free paints. */
export const paintArtifact: HandlerOf<'paintArtifact'> = async ({ ctx, tx, tenantId, key, address, collection, body }) => {
  const [width = 1_024, height = 1_024] = body.size?.split('x').map(Number) ?? []
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
  const fromAllowance =
    payer === null && (await useAllowance(tx, tenantId, (await findLimits(ctx, tx, tenantId)).paints_per_month))
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
  const id = await startGeneration(ctx, tx, tenantId, { ...work, priceCredits, payer, fromAllowance }, artifact)
  return { status: 202, data: { id, status: 'painting' } }
}

async function payerOf(ctx: Context, coupon: string) {
  const payer = await findPayer(ctx.db, coupon)
  if (!payer) throw nothingUnderCoupon()
  return payer.account
}

export const produceArtifact: HandlerOf<'produceArtifact'> = async ({ ctx, tx, tenantId, collection, body }) => {
  const { kind, title, items, artifacts, template } = body
  await assertQuota(ctx, tx, tenantId, { bytes: 1, announced: 0 })
  await assertInCollection(ctx, tenantId, collection.id, { items, artifacts })
  const input = {
    ...(title === undefined ? {} : { title }),
    ...(items ? { items } : {}),
    ...(artifacts ? { artifacts } : {}),
    ...(template === undefined ? {} : { template }),
  }
  const work = { collectionId: collection.id, kind, input, priceCredits: 0, payer: null, fromAllowance: false }
  const id = await startGeneration(ctx, tx, tenantId, work, { kind, source: 'produce', title: title ?? null })
  return { status: 202, data: { id, status: 'painting' } }
}

interface Chosen {
  items: string[] | undefined
  artifacts: string[] | undefined
}

async function assertInCollection(
  ctx: Context,
  tenantId: string,
  collectionId: string,
  { items, artifacts }: Chosen,
): Promise<void> {
  const choose = (ids: string[]) => ({ ids, hero: false })
  const found = {
    items: items && (await listChosenItems(ctx.db, tenantId, collectionId, choose(items))).length,
    artifacts: artifacts && (await listChosenArtifacts(ctx.db, tenantId, collectionId, choose(artifacts))).length,
  }
  if (items && found.items !== new Set(items).size) throw invalid('/items', 'names an item that is not in this collection')
  if (artifacts && found.artifacts !== new Set(artifacts).size)
    throw invalid('/artifacts', 'names an artifact that is not in this collection')
}

import type { Context } from '#features/context.ts'
import { invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { listChosenItems } from '#features/items/store.ts'
import { assertQuota } from '#features/limits/quota.ts'
import { startGeneration } from '../generation/generation-lifecycle.ts'
import { listChosenArtifacts } from '../store.ts'

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
  const id = await startGeneration(tx, tenantId, work, { kind, source: 'produce', title: title ?? null })
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

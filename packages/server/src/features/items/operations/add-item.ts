import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { ClaimTaken } from '#http/idempotency/run-claimed.ts'
import { newId } from '#crypto/random.ts'
import { assertSealed, sealToBox } from '#features/collections/collection.ts'
import type { Collection } from '#features/collections/collection.ts'
import { assertJsonSize } from '#http/parse.ts'

export const addItem: HandlerOf<'addItem'> = async ({ ctx, claim, tenantId, collection, body }) => {
  const id = newId('item')
  const answer = { status: 201 as const, data: collection.boxRecipient ? { ok: true as const } : { id } }
  const stored = await storedForm(collection, body)
  const outcome = await ctx.itemAdder.add({
    tenantId,
    collectionId: collection.id,
    id,
    ...stored,
    claim: claim && { ...claim, answer: claim.seal(answer) },
  })
  if (outcome === 'claim_taken') throw new ClaimTaken()
  if (outcome === 'not_found') throw new ApiError('not_found')
  if (outcome === 'not_open') throw new ApiError('collection_not_open')
  return answer
}

interface Submitted {
  type: string
  content: unknown
  author?: string
}

/** The columns to store: the item as received, or only its JWE if the collection is a box. */
async function storedForm({ boxRecipient }: Collection, { type, content, author }: Submitted) {
  const text = JSON.stringify(content)
  if (Buffer.byteLength(text) > limits.itemContentBytes) assertJsonSize(content, limits.itemContentBytes, '/content')
  if (!boxRecipient) return { type, content: text, author: author ?? null }
  const sealed =
    type === 'sealed' ? assertSealed(content) : await sealToBox(boxRecipient, { type, content, author: author ?? null })
  return { type: 'sealed', content: JSON.stringify(sealed), author: null }
}

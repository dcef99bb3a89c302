import { limits } from '@atrium/contract/limits'
import type { BodyOf } from '@atrium/contract/operation'
import type { Operations } from '@atrium/contract/table'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { ClaimTaken } from '#http/idempotency/run-claimed.ts'
import type { RecipientJwk } from '#crypto/jwe.ts'
import { newId } from '#crypto/random.ts'
import { assertSealed, sealToBox } from '#features/collections/collection.ts'
import type { NewItem } from '#features/items/store.ts'
import { assertJsonSize } from '#http/parse.ts'

/**
 * Most items are added without a read of their collection: the statement that adds the item checks the token. A second
 * attempt does what that statement cannot: it explains a refusal, and seals the item of a box.
 */
export const addItem: HandlerOf<'addItem'> = async (call) => {
  const { ctx, params, access, body } = call
  const text = JSON.stringify(body.content)
  const isTooLarge = Buffer.byteLength(text) > limits.itemContentBytes
  const id = newId('item')
  const plain = { type: body.type, content: text, author: body.author ?? null }
  if (access.tokenHash && !isTooLarge && !ctx.itemAdder.checksFirst(params.id)) {
    const answer = { status: 201 as const, data: { id } }
    if (await isAdded(call, { id, ...plain, tokenHash: access.tokenHash }, answer)) return answer
  }
  const { boxRecipient } = await access.check()
  if (isTooLarge) assertJsonSize(body.content, limits.itemContentBytes, '/content')
  const stored = boxRecipient ? await sealedForm(boxRecipient, body) : plain
  const answer = { status: 201 as const, data: boxRecipient ? { ok: true as const } : { id } }
  if (!(await isAdded(call, { id, ...stored, tokenHash: null }, answer))) throw new ApiError('not_found')
  return answer
}

/** Returns false if the collection must be checked first, or was not found. */
async function isAdded(
  { ctx, claim, tenantId, params }: Parameters<HandlerOf<'addItem'>>[0],
  item: Pick<NewItem, 'id' | 'type' | 'content' | 'author' | 'tokenHash'>,
  answer: Awaited<ReturnType<HandlerOf<'addItem'>>>,
): Promise<boolean> {
  const written = claim && { ...claim, answer: claim.seal(answer) }
  const outcome = await ctx.itemAdder.add({ tenantId, collectionId: params.id, ...item, claim: written })
  if (outcome === 'claim_taken') throw new ClaimTaken()
  if (outcome === 'not_open') throw new ApiError('collection_not_open')
  return outcome === 'added'
}

/** The columns of an item in a box: only its JWE. */
async function sealedForm(recipient: RecipientJwk, { type, content, author }: BodyOf<Operations['addItem']>) {
  const item = { type, content, author: author ?? null }
  const sealed = type === 'sealed' ? assertSealed(content) : await sealToBox(recipient, item)
  return { type: 'sealed', content: JSON.stringify(sealed), author: null }
}

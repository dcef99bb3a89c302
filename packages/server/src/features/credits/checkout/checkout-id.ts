import { hash } from 'node:crypto'
import { makeId } from '@atrium/contract/tokens'
import type { Db } from '#db/database.ts'
import type { Claim } from '#http/idempotency/claim.ts'
import { newId } from '#crypto/random.ts'
import { findCheckout } from './store.ts'

/**
 * The id of the checkout that this request makes. It derives from the request's claim, so that a repeat after a crash, which finds nothing
 * written, meets the same payment at the provider. The body counts too: after an error the key is free for another one. Once the first
 * checkout is there and its answer no longer kept, the key makes a new one.
 */
export async function checkoutIdFor(db: Db, tenantId: string, claim: Claim<never> | undefined): Promise<string> {
  if (!claim) return newId('checkout')
  const id = derivedId(claim.seed())
  return (await findCheckout(db, tenantId, id)) ? newId('checkout') : id
}

function derivedId(seed: Buffer): string {
  let round = 0
  return makeId('checkout', (length) =>
    hash('sha512', Buffer.concat([seed, Buffer.from([round++])]), 'buffer').subarray(0, length),
  )
}

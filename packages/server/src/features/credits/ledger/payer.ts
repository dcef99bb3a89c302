import { isCredential } from '@atrium/contract/tokens'
import type { Db } from '#db/database.ts'
import { findBearer, type BearerAccount } from './bearer.ts'

/** The wallet or coupon that a code spends; undefined where there is none. A mistyped code costs no look-up. */
export async function findPayer(db: Db, code: string): Promise<BearerAccount | undefined> {
  if (!isCredential('walletCode', code) && !isCredential('coupon', code)) return undefined
  return findBearer(db, code)
}

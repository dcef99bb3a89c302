import type { Handlers } from '../handler.ts'
import { createCheckout } from './checkout/operations/create-checkout.ts'
import { getCheckout } from './checkout/operations/get-checkout.ts'
import { getEpoch, listEpochs } from './epochs/operations/get-epochs.ts'
import { publishEpoch } from './epochs/operations/publish-epoch.ts'
import { auditBooks } from './operations/audit-books.ts'
import { grantCoupon } from './operations/grant-coupon.ts'
import { lookUpWallet } from './operations/look-up-wallet.ts'
import { redeemWallet } from './operations/redeem-wallet.ts'

export const creditHandlers = {
  auditBooks,
  createCheckout,
  getCheckout,
  getEpoch,
  grantCoupon,
  listEpochs,
  lookUpWallet,
  publishEpoch,
  redeemWallet,
} satisfies Partial<Handlers>

import type { Handlers } from '../handler.ts'
import { createCheckout, getCheckout } from './checkout/operations.ts'
import { listCheckouts } from './checkout/list-checkouts.ts'
import { getEpoch, listEpochs, publishEpoch } from './epochs/operations.ts'
import { auditBooks } from './ledger/audit.ts'
import { grantCoupon } from './operations/grant-coupon.ts'
import { listMovements } from './operations/list-movements.ts'
import { lookUpWallet, redeemWallet } from './operations/wallets.ts'

export const creditHandlers = {
  auditBooks,
  createCheckout,
  getCheckout,
  getEpoch,
  grantCoupon,
  listCheckouts,
  listEpochs,
  listMovements,
  lookUpWallet,
  publishEpoch,
  redeemWallet,
} satisfies Partial<Handlers>

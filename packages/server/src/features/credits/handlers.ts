import { askedAuditHandlers } from './ledger/asked-audits.ts'
import type { Handlers } from '../handler.ts'
import { lookUpBalanceProofs, proveBalances } from './books/operations.ts'
import { createCheckout, getCheckout, listCheckouts } from './checkout/operations.ts'
import { getEpoch, listEpochs, publishEpoch } from './epochs/operations.ts'
import { auditBooks } from './ledger/audit.ts'
import { grantCoupon } from './operations/grant-coupon.ts'
import { listReceipts, lookUpReceipts } from './receipts/operations.ts'
import { getIssuerBalance, listMovements, lookUpWallet, redeemWallet } from './operations/wallets.ts'

export const creditHandlers = {
  auditBooks,
  ...askedAuditHandlers,
  createCheckout,
  getCheckout,
  getEpoch,
  getIssuerBalance,
  grantCoupon,
  listCheckouts,
  listEpochs,
  listMovements,
  listReceipts,
  lookUpBalanceProofs,
  lookUpReceipts,
  lookUpWallet,
  proveBalances,
  publishEpoch,
  redeemWallet,
} satisfies Partial<Handlers>

import type { Context } from '#features/context.ts'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findCodeAccount } from '#features/credits/ledger/code-account-store.ts'
import { checkoutView, licenseRef, type Checkout } from '../checkout.ts'
import { eraseLicenseOf, findCheckout } from '../store.ts'

export const getCheckout: HandlerOf<'getCheckout'> = async ({ ctx, tenantId, params }) => {
  const checkout = await findCheckout(ctx.db, tenantId, params.id)
  if (!checkout) throw new ApiError('not_found')
  const view = checkoutView(checkout, Date.now())
  const licenseKey = await readLicense(ctx, checkout)
  return { status: 200, data: { ...view, ...(licenseKey === undefined ? {} : { license_key: licenseKey }) } }
}

/**
 * The license key until its redemption. The answer may be lost, so that reading consumes nothing. The books tell
 * whether the key was redeemed. The redemption erases the key too, but the process may have ended before it could.
 */
async function readLicense(ctx: Context, checkout: Checkout): Promise<string | undefined> {
  if (!checkout.licenseSealed) return undefined
  const licenseKey = ctx.vault.open(checkout.licenseSealed, licenseRef(checkout)).toString()
  const license = await findCodeAccount(ctx.db, licenseKey)
  if (license && license.balanceCredits > 0) return licenseKey
  await eraseLicenseOf(ctx.db, checkout)
  return undefined
}

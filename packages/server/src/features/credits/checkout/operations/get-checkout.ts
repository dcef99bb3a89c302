import type { Context } from '../../../../context.ts'
import { ApiError } from '../../../../http/api-error.ts'
import type { HandlerOf } from '../../../../http/call.ts'
import { checkoutView, licensePlace } from '../checkout.ts'
import { findCheckout, findCheckoutForUpdate, updateCheckout } from '../store.ts'

export const getCheckout: HandlerOf<'getCheckout'> = async (ctx, { tenant, params }) => {
  const checkout = await findCheckout(ctx.db, tenant, params.id)
  if (!checkout) throw new ApiError('not_found')
  const view = checkoutView(checkout, Date.now())
  const licenseKey = checkout.licenseSealed === null ? undefined : await takeLicense(ctx, tenant, params.id)
  return { status: 200, data: { ...view, ...(licenseKey === undefined ? {} : { license_key: licenseKey }) } }
}

/** Opened before it is erased, in one transaction: under a wrong master key it stays. Of several readers at once the first gets it. */
function takeLicense(ctx: Context, tenantId: string, id: string): Promise<string | undefined> {
  return ctx.db.lane(id).transaction(async (tx) => {
    const checkout = await findCheckoutForUpdate(tx, tenantId, id)
    if (!checkout?.licenseSealed) return undefined
    const licenseKey = ctx.vault.open(checkout.licenseSealed, licensePlace(checkout)).toString()
    await updateCheckout(tx, { ...checkout, licenseSealed: null })
    return licenseKey
  })
}

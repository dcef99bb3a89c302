import { isCredential } from '@atrium/contract/tokens'

/** A coupon, or the code of a wallet, as people paste it; undefined where it is neither, or is not whole. */
export function parseCoupon(text: string): string | undefined {
  const code = text.replace(/\s+/g, '')
  return isCredential('coupon', code) || isCredential('walletCode', code) ? code : undefined
}

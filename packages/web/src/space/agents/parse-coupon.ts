import { isCredential } from '@atrium/contract/tokens'

/** Reads a coupon, or the code of a wallet, as people paste it. Undefined if it is neither or incomplete. */
export function parseCoupon(text: string): string | undefined {
  const code = text.replace(/\s+/g, '')
  return isCredential('coupon', code) || isCredential('walletCode', code) ? code : undefined
}

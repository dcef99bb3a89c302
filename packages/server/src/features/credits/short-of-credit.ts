import { ApiError } from '#errors/api-error.ts'

/** The message names the amount and not the balance, which a holder of the code reads by `POST /wallets/lookup`. */
export function shortOfCredit(what: string, credits: number, where = 'the coupon', remark = ''): ApiError {
  const amount = credits === 1 ? '1 credit' : `${credits} credits`
  return new ApiError('insufficient_credit', {
    message: `The ${what} needs ${amount}${remark}, and ${where} has less. Nothing was charged.`,
  })
}

export function nothingUnderCoupon(): ApiError {
  return new ApiError('insufficient_credit', {
    message: 'There is no credit under this coupon: it is mistyped, unknown, expired or spent. Nothing was charged.',
  })
}

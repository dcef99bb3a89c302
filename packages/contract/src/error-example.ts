import { errors, type ErrorBody, type ErrorCode } from './errors.ts'

const particulars: Partial<Record<ErrorCode, Pick<ErrorBody['error'], 'reason' | 'details'>>> = {
  invalid_request: { details: [{ path: '/type', message: 'must be a string' }] },
  price_changed: {
    details: [
      {
        path: '/max_price_credits',
        message: 'the agent costs 900 credits; the request agreed to 5',
        price_credits: 900,
        agreed_price_credits: 5,
      },
    ],
  },
  not_authorized: { reason: 'not_on_list' },
}

/** An example of an error response with this code, for the documentation. */
export function errorExample(code: ErrorCode): ErrorBody {
  return {
    error: {
      code,
      message: errors[code].title,
      doc_url: `https://atrium.example/docs/errors/${code}`,
      request_id: 'req_4fRzK0vXcB1mQwErTy7uPa',
      ...particulars[code],
    },
  }
}

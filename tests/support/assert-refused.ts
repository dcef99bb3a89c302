import assert from 'node:assert/strict'
import { errors, type ErrorBody, type ErrorCode } from '../../packages/contract/src/errors.ts'

/** The largest error answer. With more errors, it lists no more details. */
const maxErrorBytes = 16 * 1024

/** Asserts that the answer is the error of this code, in the contract's form of errors. */
export function assertRefused(
  answer: { status: number; headers: Record<string, unknown>; text: string },
  codes: ErrorCode | readonly ErrorCode[],
  what: string,
): ErrorBody['error'] {
  const said = `${what}: ${answer.status} ${answer.text.slice(0, 300)}`
  assert.match(String(answer.headers['content-type']), /^application\/json/, said)
  const { error } = JSON.parse(answer.text) as Partial<ErrorBody>
  assert.ok(error && [codes].flat().includes(error.code), said)
  assert.equal(answer.status, errors[error.code].status, said)
  assert.match(error.request_id ?? '', /^req_[0-9A-Za-z]{22}$/, said)
  assert.equal(answer.headers['x-request-id'], error.request_id, said)
  assert.ok(error.message.length > 0 && error.message.length < 2_000, said)
  assert.ok(answer.text.length < maxErrorBytes, `${what}: the error has ${answer.text.length} bytes`)
  for (const { path, message } of error.details ?? []) assert.deepEqual([typeof path, typeof message], ['string', 'string'], said)
  return error
}

/** Every 400 says where the fault is. */
export function assertDetailed({ status, text }: { status: number; text: string }, what: string): void {
  const { error } = JSON.parse(text) as ErrorBody
  assert.ok(
    status === 400 && Array.isArray(error.details) && error.details.length > 0,
    `${what}: a 400 has details: ${text.slice(0, 300)}`,
  )
}

/**
 * The key by which limits count a request if a service calls another in its own name: `session:<id>`. The callee
 * accepts it only from an address that it trusts; see packages/space/src/http/caller-key.ts.
 */
export const rateKeyHeader = 'x-atrium-rate-key'

const form = /^[a-z]{1,16}:[A-Za-z0-9_-]{1,128}$/

/** A kind and an id. It cannot be mistaken for an address, which has a dot or a slash. */
export function isRateKey(value: unknown): value is string {
  return typeof value === 'string' && form.test(value)
}

import assert from 'node:assert/strict'
import { assertRefused } from './assert-refused.ts'
import { call, type CallOptions } from './call-api.ts'
import type { ShelfWorld } from './shelf-world.ts'

/** A call that somebody makes by mistake, and what its answer must say. */
export interface Mistake {
  what: string
  route: string
  options?: CallOptions
  /** status and code, such as `401 unauthorized`. */
  expect: string
  /** Every one is in the message or the details. */
  says: RegExp[]
}

/** The answer names what is wrong and where more is said, and holds no secret. Returns what a reader would judge. */
export async function assertTeaches({ origin, tenant, shelf }: ShelfWorld, mistake: Mistake): Promise<string> {
  const { what, route, options = {}, expect, says } = mistake
  const answer = await call(origin, route, options)
  const code = answer.code ?? ''
  assert.equal(`${answer.status} ${code}`, expect, `${what}: ${answer.text}`)
  const error = assertRefused(answer, code as never, what)
  assert.equal(error.doc_url, `${origin}/docs/errors/${code}`, what)
  const text = [error.message, ...(error.details ?? []).map(({ path, message }) => `${path} ${message}`)].join('\n')
  for (const one of says) assert.match(text, one, what)
  if (answer.status === 401) assert.match(String(answer.headers['www-authenticate']), /^Bearer realm="Atrium"/, what)
  for (const secret of [tenant.secret, shelf.owner, shelf.control]) assert.ok(!answer.text.includes(secret), `${what}: a secret`)
  return `${what}\n  ${route}\n  ${answer.status} ${answer.text}\n`
}

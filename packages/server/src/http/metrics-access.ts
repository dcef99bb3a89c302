import { createHash, timingSafeEqual } from 'node:crypto'

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/** Whether the Authorization header has this Bearer token. */
export function hasBearerToken(authorization: string | undefined, token: string): boolean {
  const [scheme = '', given = ''] = authorization?.split(' ', 2) ?? []
  return scheme.toLowerCase() === 'bearer' && timingSafeEqual(hash(given), hash(token))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '#config/is-loopback.ts'

/**
 * Whether the request comes from a page of the console or from a program. Browsers send Origin with every POST. In
 * development, the computer may be called localhost or by its loopback address.
 */
export function isOwnOrigin(consoleUrl: string, { origin, host = '' }: IncomingHttpHeaders): boolean {
  if (origin === undefined || origin === consoleUrl) return true
  const { protocol, hostname } = new URL(consoleUrl)
  if (protocol !== 'http:' || !isLoopback(hostname) || origin !== `http://${host}` || !URL.canParse(origin)) return false
  return isLoopback(new URL(origin).hostname)
}

import { isIP, isIPv4, isIPv6 } from 'node:net'
import { StartError } from '#errors/start-error.ts'
import type { Env } from './env.ts'

/** undefined: no relay is configured. */
export function readTurnUrls({ turnUrls, turnSecret }: Env): string[] | undefined {
  if (!turnUrls && !turnSecret) return undefined
  if (!turnUrls) throw new StartError('TURN_URLS must be set when TURN_SECRET is')
  const urls = turnUrls.split(',').map((url) => url.trim())
  for (const [index, url] of urls.entries()) {
    const wrong = faultIn(url)
    // The value is not quoted, because it may contain a password.
    if (wrong)
      throw new StartError(`TURN_URLS must list relays such as turn:turn.example.com:3478, but number ${index + 1} ${wrong}`)
  }
  if (!urls.some((url) => url.startsWith('turn')))
    throw new StartError('TURN_URLS must list at least one turn: or turns: address')
  return urls
}

/** The secret shared with the relay. It is never quoted. */
export function readTurnSecret({ turnUrls, turnSecret }: Env): string | undefined {
  if (!turnUrls && !turnSecret) return undefined
  if (!turnSecret) throw new StartError('TURN_SECRET must be set when TURN_URLS is')
  if (turnSecret.length < 16) throw new StartError('TURN_SECRET must have at least 16 characters')
  return turnSecret
}

/** A relay's URI by RFC 7065, or a STUN server's by RFC 7064, which has no transport. */
const shape = /^(?<scheme>turns?|stun):(?<host>\[[^\]]*\]|[^:?]*)(?::(?<port>[^?]*))?(?<query>\?.*)?$/

/** A browser throws on one invalid URL and then uses none of the others. */
function faultIn(url: string): string | undefined {
  const { scheme, host = '', port, query } = shape.exec(url)?.groups ?? {}
  if (!scheme) return 'does not start with turn:, turns: or stun:'
  if (!isHost(host)) return 'names no host'
  if (port !== undefined && !isPort(port)) return 'has an invalid port'
  if (query === undefined) return undefined
  if (scheme === 'stun') return 'is a stun: address, which takes nothing after the port'
  return query === '?transport=udp' || query === '?transport=tcp' ? undefined : 'has a transport that is neither udp nor tcp'
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return isIPv6(host.slice(1, -1)) && !host.includes('%')
  if (isIP(host)) return isIPv4(host)
  const labels = host.split('.')
  // A numeric last label indicates a mistyped IPv4 address.
  const named = labels.every((label) => /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/i.test(label)) && !/(^|\.)\d+$/.test(host)
  return named && host.length <= 253
}

function isPort(port: string): boolean {
  return /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535
}

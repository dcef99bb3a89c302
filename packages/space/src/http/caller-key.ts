import { BlockList, isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { limitAddress } from '@atrium/traffic/client-address'
import { isRateKey, rateKeyHeader } from '@atrium/traffic/rate-key'

const named: Record<string, [string, number, 'ipv4' | 'ipv6'][]> = {
  loopback: [
    ['127.0.0.0', 8, 'ipv4'],
    ['::1', 128, 'ipv6'],
  ],
  linklocal: [
    ['169.254.0.0', 16, 'ipv4'],
    ['fe80::', 10, 'ipv6'],
  ],
  uniquelocal: [
    ['10.0.0.0', 8, 'ipv4'],
    ['172.16.0.0', 12, 'ipv4'],
    ['192.168.0.0', 16, 'ipv4'],
    ['fc00::', 7, 'ipv6'],
  ],
}

/**
 * Returns the key by which limits count a request: the address of the socket or, if that is a trusted proxy, the
 * last untrusted address in its header. A trusted caller that forwards for nobody may name its own key instead.
 */
export function callerKey(trusted: string[]): (req: IncomingMessage) => string {
  const proxies = new BlockList()
  for (const text of trusted) {
    for (const [address, bits, family] of named[text] ?? [range(text)]) proxies.addSubnet(address, bits, family)
  }
  const isProxy = (address: string) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
    const version = isIP(plain)
    return version !== 0 && proxies.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
  return (req) => {
    let address = req.socket.remoteAddress ?? ''
    const hops = forwardedFor(req)
    // A proxy passes headers on: if any address on the way is untrusted, the key may be forged.
    const named = req.headers[rateKeyHeader]
    for (let hop = hops.at(-1); hop !== undefined && isProxy(address) && isIP(hop) !== 0; hop = hops.at(-1)) {
      address = hop
      hops.pop()
    }
    if (named !== undefined && hops.length === 0 && isRateKey(named) && isProxy(address)) return named
    return limitAddress(address)
  }
}

/** The nearest address is last. */
function forwardedFor({ headers }: IncomingMessage): string[] {
  const value = headers['x-forwarded-for']
  return value === undefined
    ? []
    : String(value)
        .split(',')
        .map((hop) => hop.trim())
}

function range(text: string): [string, number, 'ipv4' | 'ipv6'] {
  const [address = '', bits] = text.split('/')
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  return [address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family]
}

import { BlockList, isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { limitAddress } from '@atrium/traffic/client-address'

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

/** Tells the address that limits count by: the socket's or, where that is a trusted proxy, the last untrusted one it names. */
export function callerAddress(trusted: string[]): (req: IncomingMessage) => string {
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
    const forwarded = String(req.headers['x-forwarded-for'] ?? '').split(',')
    while (isProxy(address) && forwarded.length > 0) {
      const before = forwarded.pop()!.trim()
      if (isIP(before) === 0) break
      address = before
    }
    return limitAddress(address)
  }
}

function range(text: string): [string, number, 'ipv4' | 'ipv6'] {
  const [address = '', bits] = text.split('/')
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  return [address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family]
}

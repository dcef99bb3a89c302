/**
 * The address by which limits count: IPv4 unchanged (also if mapped into IPv6), IPv6 by its /64, because a
 * subscriber has a whole /64.
 */
export function limitAddress(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [plain = ''] = address.split('%', 1)
  const [head = '', tail = ''] = plain.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const hextets = plain.includes('::')
    ? [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
    : left
  return `${hextets
    .slice(0, 4)
    .map((hextet) => Number.parseInt(hextet, 16).toString(16))
    .join(':')}::/64`
}

/**
 * The network of the given prefix length (a multiple of 4 up to 64) that contains the `limitAddress` of an IPv6
 * caller. undefined for IPv4.
 */
export function networkOf(counted: string, bits: 48 | 56): string | undefined {
  if (!counted.endsWith('::/64')) return undefined
  const digits = counted
    .slice(0, -'::/64'.length)
    .split(':')
    .map((hextet) => hextet.padStart(4, '0'))
    .join('')
  return `${digits.slice(0, bits / 4)}/${bits}`
}

/**
 * The address that limits count by: IPv4 as it is (also when mapped into IPv6), IPv6 by its /64, because a subscriber has a whole /64 to
 * call from.
 */
export function limitAddress(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  const plain = address.split('%')[0]!
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

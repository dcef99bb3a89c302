/** The order of P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** Another signature of the same text that verifies as well, which anyone can compute: (r, n - s) for (r, s). */
export function mirrored(jws: string): string {
  const end = jws.lastIndexOf('.') + 1
  const signature = Buffer.from(jws.slice(end), 'base64url')
  const s = order - BigInt(`0x${signature.subarray(32).toString('hex')}`)
  const other = Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
  return jws.slice(0, end) + other.toString('base64url')
}

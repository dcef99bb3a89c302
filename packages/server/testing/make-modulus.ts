import { randomBytes } from 'node:crypto'

/**
 * Returns a number that looks like the modulus of an RSA key, in base64url. It is fast to make and passes all
 * possible checks, but cannot sign.
 */
export function makeModulus(bits = 2_048): string {
  // A product is no prime, which would be no valid modulus: nothing has to be tested.
  const modulus = makeFactor(bits / 2) * makeFactor(bits / 2)
  return Buffer.from(modulus.toString(16), 'hex').toString('base64url')
}

/** An odd number without a small factor. With its two highest bits, a product has all of its bits. */
function makeFactor(bits: number): bigint {
  for (;;) {
    const bytes = randomBytes(bits / 8)
    bytes[0]! |= 0xc0
    bytes[bytes.length - 1]! |= 1
    const value = BigInt(`0x${bytes.toString('hex')}`)
    if (!odd.some((factor) => value % factor === 0n)) return value
  }
}

const odd = Array.from({ length: 499 }, (_, i) => BigInt(2 * i + 3))

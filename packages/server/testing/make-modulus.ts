import { checkPrimeSync, randomBytes } from 'node:crypto'

/**
 * Looks like the modulus of an RSA key, which is all that can be told of one, and is made at once; in base64url. It
 * signs nothing.
 */
export function makeModulus(bits = 2_048): string {
  for (;;) {
    const modulus = randomBytes(bits / 8)
    modulus[0]! |= 0x80
    modulus[modulus.length - 1]! |= 1
    const value = BigInt(`0x${modulus.toString('hex')}`)
    // One in sixty of those without a small factor is a prime, which no modulus is.
    if (!odd.some((factor) => value % factor === 0n) && !checkPrimeSync(value, { checks: 1 }))
      return modulus.toString('base64url')
  }
}

const odd = Array.from({ length: 499 }, (_, i) => BigInt(2 * i + 3))

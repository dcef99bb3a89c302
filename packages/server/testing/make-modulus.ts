import { checkPrimeSync, randomBytes } from 'node:crypto'

/**
 * Returns a number that looks like the modulus of an RSA key, in base64url. It is fast to make and passes all
 * possible checks, but cannot sign.
 */
export function makeModulus(bits = 2_048): string {
  for (;;) {
    const modulus = randomBytes(bits / 8)
    modulus[0]! |= 0x80
    modulus[modulus.length - 1]! |= 1
    const value = BigInt(`0x${modulus.toString('hex')}`)
    // One in sixty numbers without a small factor is a prime, which is not a valid modulus.
    if (!odd.some((factor) => value % factor === 0n) && !checkPrimeSync(value, { checks: 1 }))
      return modulus.toString('base64url')
  }
}

const odd = Array.from({ length: 499 }, (_, i) => BigInt(2 * i + 3))

import { checkPrimeSync } from 'node:crypto'
import { invalid } from '#errors/api-error.ts'
import type { RsaPublicKey } from '../blind-token.ts'

const maxFactor = 1_000

const smallPrimes = Array.from({ length: maxFactor }, (_, i) => i).filter(
  (n) => n > 2 && !Array.from({ length: n }, (_, i) => i).some((d) => d > 1 && n % d === 0),
)

/**
 * Refuses the key of a new epoch for which anyone could sign tokens, since its modulus is easily taken apart: 400. Asked when an epoch is
 * published, not when one is read: what was published stays. That the modulus has two large secret factors cannot be told from it.
 */
export function assertSoundKey({ n }: RsaPublicKey): void {
  const modulus = BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`)
  if (smallPrimes.some((prime) => modulus % BigInt(prime) === 0n))
    throw invalid('/public_key/n', `must not have a factor below ${maxFactor}`)
  if (squareRoot(modulus) ** 2n === modulus) throw invalid('/public_key/n', 'must not be a square')
  // Of what is no prime, the first round tells it.
  if (checkPrimeSync(modulus, { checks: 8 })) throw invalid('/public_key/n', 'must not be a prime')
}

/** Rounded down; by Newton. */
function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

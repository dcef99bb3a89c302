import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

export interface Scram {
  /** The client-first-message. */
  readonly first: string
  /** Takes the server-first-message. Returns the client-final-message. */
  prove(serverFirst: string): string
  /** Takes the server-final-message. Throws if the server does not know the password. */
  verify(serverFinal: string): void
}

/** More iterations would block this process for longer than a few milliseconds. PostgreSQL's default is 4,096. */
const maxIterations = 100_000

/** One SCRAM-SHA-256 exchange (RFC 5802, RFC 7677), without channel binding. */
export function startScram(password: string, nonce: string = randomBytes(18).toString('base64')): Scram {
  // PostgreSQL uses the user of the startup message and ignores this one.
  const firstBare = `n=*,r=${nonce}`
  let expected: Buffer | undefined
  return {
    first: `n,,${firstBare}`,
    prove(serverFirst) {
      const { r: serverNonce = '', s: salt = '', i = '' } = readAttributes(serverFirst)
      const iterations = /^[1-9]\d{0,6}$/.test(i) ? Number(i) : 0
      if (!serverNonce.startsWith(nonce) || serverNonce.length === nonce.length)
        throw new Error('SCRAM: the nonce of the server does not continue that of the client')
      if (!/^[A-Za-z0-9+/]+={0,2}$/.test(salt)) throw new Error('SCRAM: the salt is not base64')
      if (iterations === 0 || iterations > maxIterations) throw new Error(`SCRAM: the server asks for ${i} iterations`)
      const salted = pbkdf2Sync(prepare(password), Buffer.from(salt, 'base64'), iterations, 32, 'sha256')
      const clientKey = hmac(salted, 'Client Key')
      const finalBare = `c=biws,r=${serverNonce}`
      const message = `${firstBare},${serverFirst},${finalBare}`
      const signature = hmac(createHash('sha256').update(clientKey).digest(), message)
      expected = hmac(hmac(salted, 'Server Key'), message)
      return `${finalBare},p=${Buffer.from(clientKey.map((byte, i) => byte ^ (signature[i] ?? 0))).toString('base64')}`
    },
    verify(serverFinal) {
      const { v = '', e } = readAttributes(serverFinal)
      if (e !== undefined) throw new Error(`SCRAM: the server refuses: ${e}`)
      const signature = Buffer.from(v, 'base64')
      if (!expected || signature.length !== expected.length || !timingSafeEqual(signature, expected))
        throw new Error('SCRAM: the signature of the server is wrong')
    },
  }
}

function readAttributes(message: string): Partial<Record<string, string>> {
  return Object.fromEntries(message.split(',').map((pair) => [pair[0], pair.slice(2)]))
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/**
 * SASLprep (RFC 4013), as far as it changes characters: spaces, characters mapped to nothing, NFKC. Like PostgreSQL,
 * it prohibits none.
 */
function prepare(password: string): string {
  return password
    .replace(/[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/g, ' ')
    .replace(/\u00AD|\u034F|\u1806|[\u180B-\u180D]|\u200C|\u200D|\u2060|[\uFE00-\uFE0F]|\uFEFF/g, '')
    .normalize('NFKC')
}

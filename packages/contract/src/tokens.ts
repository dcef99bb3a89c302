/**
 * The formats of ids and credentials.
 * An id is a prefix and 22 base62 characters (130 random bits; 83 and the time in the id of a request). A credential is a prefix, 30 base62 characters of
 * randomness and the CRC-32 (ISO-HDLC) of all preceding characters as 6 base62 digits: a mistyped or truncated one is
 * rejected without a look-up.
 */
export const idPrefixes = {
  tenant: 'ten_',
  key: 'key_',
  collection: 'col_',
  item: 'itm_',
  artifact: 'art_',
  session: 'ses_',
  agent: 'agt_',
  event: 'evt_',
  transaction: 'txn_',
  checkout: 'chk_',
  request: 'req_',
  operatorCredential: 'opc_',
  auditEntry: 'aud_',
  inviteEntry: 'ivt_',
  member: 'mem_',
  consoleSession: 'cns_',
  receipt: 'rct_',
  ledgerAudit: 'lau_',
  webhookEndpoint: 'whe_',
} as const

/** The id of the webhook endpoint that `PUT /tenant/webhooks` sets. */
export const defaultEndpoint = 'default'

export const credentialPrefixes = {
  secretKey: 'wsk_',
  publishableKey: 'wpk_',
  adminToken: 'cat_',
  contributorToken: 'cct_',
  controlToken: 'sct_',
  summonKey: 'sk_',
  walletCode: 'wlt_',
  coupon: 'cpn_',
  licenseKey: 'lic_',
  invite: 'inv_',
  operatorToken: 'opt_',
  consoleLink: 'clk_',
  consoleSession: 'css_',
  consoleCsrf: 'csr_',
} as const

export type IdKind = keyof typeof idPrefixes
export type CredentialKind = keyof typeof credentialPrefixes

/** Returns `length` random bytes. It is injected, so that this package does not depend on a platform. */
export type RandomBytes = (length: number) => Uint8Array

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const idLength = 22
const randomLength = 30
const checksumLength = 6

/** All pairs of base62 characters. */
const pairs = Array.from({ length: 62 * 62 }, (_, n) => base62.charAt(Math.floor(n / 62)) + base62.charAt(n % 62))

/**
 * Uniform base62 characters, two from every 16 bits. Numbers of 65,348 and more are rejected, because that is the
 * largest multiple of 62² in 2^16. The length is even.
 */
function randomBase62(length: number, randomBytes: RandomBytes): string {
  let out = ''
  while (out.length < length) {
    const bytes = randomBytes(length - out.length)
    for (let i = 0; i < bytes.length; i += 2) {
      const number = (bytes[i] ?? 0) * 256 + (bytes[i + 1] ?? 0)
      if (number < 65_348) out += pairs[number % 3_844]
    }
  }
  return out
}

/** A fresh id, such as `col_4fRz…`. */
export function makeId(kind: IdKind, randomBytes: RandomBytes): string {
  return idPrefixes[kind] + randomBase62(idLength, randomBytes)
}

const timeLength = 8
let lastTime = { ms: -1, digits: '' }

/**
 * A fresh id whose first 8 characters are the time in milliseconds since 1970. The other 14 have 83 random bits. So ids
 * of about the same time are near each other, and the time of a row is known from its id.
 */
export function makeTimedId(kind: IdKind, ms: number, randomBytes: RandomBytes): string {
  if (lastTime.ms !== ms) lastTime = { ms, digits: toBase62(ms, timeLength) }
  return idPrefixes[kind] + lastTime.digits + randomBase62(idLength - timeLength, randomBytes)
}

/** The milliseconds since 1970 of an id that `makeTimedId` made. Of any other id, it is without meaning. */
export function timeOfId(id: string): number {
  let ms = 0
  const start = id.indexOf('_') + 1
  for (let i = start; i < start + timeLength; i++) ms = ms * 62 + base62.indexOf(id.charAt(i))
  return ms
}

const idPattern = /^[a-z]{3}_[0-9A-Za-z]{22}$/

/** Whether the text has the format of an id of this kind. */
export function isId(kind: IdKind, text: string): boolean {
  return text.length === idLength + 4 && text.startsWith(idPrefixes[kind]) && idPattern.test(text)
}

/** The JSON Schema pattern of an id of this kind. */
export function idSchemaPattern(kind: IdKind): string {
  return `^${idPrefixes[kind]}[0-9A-Za-z]{22}$`
}

/** A fresh credential, such as `wsk_…`, with its checksum. */
export function makeCredential(kind: CredentialKind, randomBytes: RandomBytes): string {
  const body = credentialPrefixes[kind] + randomBase62(randomLength, randomBytes)
  return body + checksum(body)
}

/**
 * Whether the text is a well-formed credential of this kind: prefix, length, alphabet and checksum. It may still be
 * unknown or revoked.
 */
export function isCredential(kind: CredentialKind, text: string): boolean {
  const prefix = credentialPrefixes[kind]
  if (text.length !== prefix.length + randomLength + checksumLength || !text.startsWith(prefix)) return false
  const split = text.length - checksumLength
  return credentialPattern.test(text) && text.slice(split) === checksum(text.slice(0, split))
}

const credentialPattern = /^[a-z]{2,3}_[0-9A-Za-z]{36}$/

function checksum(text: string): string {
  return toBase62(crc32(text), checksumLength)
}

function toBase62(number: number, length: number): string {
  let value = number
  let out = ''
  for (let i = 0; i < length; i++) {
    out = base62.charAt(value % 62) + out
    value = Math.floor(value / 62)
  }
  return out
}

const crcTable = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})

/** CRC-32 (ISO-HDLC, as in zip and PNG) of ASCII text. */
export function crc32(ascii: string): number {
  let c = 0xffffffff
  for (let i = 0; i < ascii.length; i++) c = (crcTable[(c ^ ascii.charCodeAt(i)) & 0xff] ?? 0) ^ (c >>> 8)
  return (c ^ 0xffffffff) >>> 0
}

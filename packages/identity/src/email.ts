/**
 * Returns an e-mail address in the form in which addresses are compared; undefined if the text is not an address.
 *
 * Trimmed, NFC, lower case: the whole address, although RFC 5321 lets a host distinguish `Ann@` from `ann@`. No
 * provider in use does, and phones capitalise as people type; a list that refused such addresses would be worked
 * around with wider rules. Nothing else is folded, because dots and `+tags` are significant on many hosts. Quoted
 * local parts, comments and address literals are rejected: no identity provider issues accounts for them.
 */
export function parseEmail(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_INPUT_LENGTH) return undefined
  const typed = value.trim()
  if ([...typed].some(foldsToAscii)) return undefined
  const email = typed.toLowerCase().normalize('NFC')
  const [local, domain, ...more] = email.split('@')
  if (!local || !domain || more.length > 0 || byteLength(email) > 254) return undefined
  return isLocalPart(local) && isDomain(domain) ? email : undefined
}

const MAX_INPUT_LENGTH = 320
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+\-/=?^_`{|}~]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+\-/=?^_`{|}~]+)*$/u
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u

/**
 * A non-ASCII letter that case folding turns into an ASCII one (the Kelvin sign becomes `k`) belongs to another
 * address.
 */
function foldsToAscii(character: string): boolean {
  return !isAscii(character) && isAscii(character.toLowerCase().normalize('NFC'))
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text)
}

function isLocalPart(text: string): boolean {
  return byteLength(text) <= 64 && LOCAL_PART.test(text)
}

function isDomain(text: string): boolean {
  return text.split('.').every((label) => label.length <= 63 && LABEL.test(label))
}

/** In UTF-8. Not Buffer, because it also runs in browsers. */
function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

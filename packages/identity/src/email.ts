/**
 * An e-mail address in the form in which addresses are compared, or undefined when it is none.
 *
 * Trimmed, NFC, lower-cased: the whole address, although RFC 5321 lets a host tell `Ann@` from `ann@`. No provider in
 * use does, people type capitals as their phone likes, and a list that refused them would be worked around with wider
 * rules. Nothing else is folded: dots and `+tags` mean something on many hosts. Quoted local parts, comments and
 * address literals are refused: no identity provider issues accounts for them.
 */
export function parseEmail(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_INPUT_LENGTH) return undefined
  const typed = value.trim()
  if ([...typed].some(foldsToAscii)) return undefined
  const email = typed.toLowerCase().normalize('NFC')
  const [local, domain, ...more] = email.split('@')
  if (!local || !domain || more.length > 0 || Buffer.byteLength(email) > 254) return undefined
  return isLocalPart(local) && isDomain(domain) ? email : undefined
}

const MAX_INPUT_LENGTH = 320
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+\-/=?^_`{|}~]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+\-/=?^_`{|}~]+)*$/u
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u

/** A letter that is not ASCII but becomes so when folded (the Kelvin sign becomes `k`) is another person's address. */
function foldsToAscii(character: string): boolean {
  return !isAscii(character) && isAscii(character.toLowerCase().normalize('NFC'))
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text)
}

function isLocalPart(text: string): boolean {
  return Buffer.byteLength(text) <= 64 && LOCAL_PART.test(text)
}

function isDomain(text: string): boolean {
  return text.split('.').every((label) => label.length <= 63 && LABEL.test(label))
}

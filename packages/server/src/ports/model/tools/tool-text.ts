import { cutText } from '../cut-text.ts'

/** No tool tells a model more than this at once. */
export const maxToolTextBytes = 64 * 1024

/** Long enough that it is nobody's word: a shorter one would be struck out of any text. */
const minSecretLength = 6

/**
 * What a tool said, fit for a model: capped, and without the secret, which some servers repeat in what they say of a
 * request.
 */
export function toolText(
  text: string,
  { secret, maxBytes = maxToolTextBytes }: { secret?: string | undefined; maxBytes?: number },
): string {
  const forms = secret && secret.length >= minSecretLength ? formsOf(secret) : []
  const known = forms.reduce((left, form) => left.replaceAll(form, '[secret]'), text)
  return cutText(known.replaceAll('\0', ''), maxBytes)
}

/** A server that shows what it got may have encoded it. The longest first: one may lie in another. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const encoded = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex'), encodeURIComponent(secret)]
  const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), ...encoded])
  return [...forms].toSorted((a, b) => b.length - a.length)
}

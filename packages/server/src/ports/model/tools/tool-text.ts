import { cutText } from '../cut-text.ts'

/** The longest text that a tool passes to a model. */
export const maxToolTextBytes = 64 * 1024

/** Long enough that it is not an ordinary word: a shorter secret would be removed from any text. */
const minSecretLength = 6

/**
 * Prepares the text of a tool for a model: shortened, and without the tool's secret, which some servers repeat in
 * error messages.
 */
export function toolText(
  text: string,
  { secret, maxBytes = maxToolTextBytes }: { secret?: string | undefined; maxBytes?: number },
): string {
  const forms = secret && secret.length >= minSecretLength ? formsOf(secret) : []
  const known = forms.reduce((left, form) => left.replaceAll(form, '[secret]'), text)
  return cutText(known.replaceAll('\0', ''), maxBytes)
}

/**
 * A server may return the secret in an encoded form. The longest form is removed first, because one may contain
 * another.
 */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const encoded = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex'), encodeURIComponent(secret)]
  const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), ...encoded])
  return [...forms].toSorted((a, b) => b.length - a.length)
}

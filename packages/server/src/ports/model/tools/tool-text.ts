import { cutText } from '../cut-text.ts'

/** No tool tells a model more than this at once. */
export const maxToolTextBytes = 64 * 1024

/** Long enough that it is nobody's word: a shorter one would be struck out of any text. */
const minSecretLength = 6

/** What a tool said, fit for a model: capped, and without the secret, which some servers repeat in what they say of a request. */
export function toolText(
  text: string,
  { secret, maxBytes = maxToolTextBytes }: { secret?: string | undefined; maxBytes?: number },
): string {
  const known = secret && secret.length >= minSecretLength ? text.replaceAll(secret, '[secret]') : text
  return cutText(known.replaceAll('\0', ''), maxBytes)
}

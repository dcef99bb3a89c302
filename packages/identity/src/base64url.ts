/**
 * Decodes base64url (RFC 4648 §5, no padding), or gives undefined.
 *
 * Only the canonical spelling passes: Node skips characters it does not know and ignores stray low bits, so that one
 * value would have many spellings and one token many texts.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

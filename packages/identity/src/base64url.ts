/**
 * Decodes base64url (RFC 4648 §5, no padding). Returns undefined for any other text.
 *
 * Only the canonical encoding is accepted: Node skips unknown characters and ignores stray low bits, so that one
 * value would have many encodings and one token many texts.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

/** Returns the forms in which the text contains the secret: raw, hex, or base64 in any of its three alignments. */
export function formsFound(text: string, secret: string | Buffer): string[] {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  const found: string[] = []
  if (text.includes(bytes.toString('utf8')) || text.includes(bytes.toString('latin1'))) found.push('raw')
  if (text.toLowerCase().includes(hex)) found.push('hex')
  const plain = text.replaceAll('-', '+').replaceAll('_', '/')
  for (const alignment of [0, 1, 2]) if (plain.includes(base64Core(bytes, alignment))) found.push(`base64 at ${alignment}`)
  return found
}

/** The base64 characters that depend only on the secret, when it begins `alignment` bytes into a group of three. */
function base64Core(secret: Buffer, alignment: number): string {
  const text = Buffer.concat([Buffer.alloc(alignment), secret])
    .toString('base64')
    .replaceAll('=', '')
  const first = Math.ceil((alignment * 8) / 6)
  const whole = Math.floor(((alignment + secret.length) * 8) / 6)
  return text.slice(first, whole)
}

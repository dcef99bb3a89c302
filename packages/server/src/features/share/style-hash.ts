import { createHash } from 'node:crypto'

/** The styles of a page depend on its theme, and there are few: their hashes are kept. */
const hashes = new Map<string, string>()
const maxHashes = 1_000

/** SHA-256 of a style, base64, for the page's policy. */
export function styleHash(style: string): string {
  let hash = hashes.get(style)
  if (hash === undefined) {
    hash = createHash('sha256').update(style).digest('base64')
    if (hashes.size >= maxHashes) hashes.clear()
    hashes.set(style, hash)
  }
  return hash
}

import type { Author, Entry } from '../api/space-client.ts'

/** Tells authors apart: an account by its address, an agent by its id, a guest by the key of their device. */
export function authorId({ kind, id, email, key, name }: Author): string {
  return `${kind}:${id ?? email ?? key ?? name ?? ''}`
}

/** What a guest is called: the first letters of their device key's thumbprint. */
export function authorName({ kind, email, key, name }: Author): string {
  if (kind === 'agent') return name ?? 'Agent'
  if (kind === 'account') return name ?? email ?? 'Account'
  return name ?? (key === undefined ? 'Guest' : `Guest ${guestCode(key)}`)
}

/** The name as it is read out. */
export function spokenName(author: Author): string {
  return author.kind === 'agent' ? `${authorName(author)}, agent` : authorName(author)
}

function guestCode(key: string): string {
  return key
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, 4)
    .toUpperCase()
}

/** One or two letters for the little arch beside a name. */
export function initials(author: Author): string {
  if (author.kind === 'anonymous' && author.name === undefined)
    return author.key === undefined ? '·' : guestCode(author.key).slice(0, 2)
  const words = authorName(author).match(/[\p{L}\p{N}]+/gu) ?? []
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]]
  return letters
    .map((word) => [...(word ?? '·')][0])
    .join('')
    .toUpperCase()
}

export const TINTS = 8

/** One of the house's tints, always the same for an author. */
export function tintOf(author: Author): number {
  let value = 0x811c9dc5
  for (const character of authorId(author)) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return (value >>> 8) % TINTS
}

export interface Participant {
  readonly author: Author
  /** Their newest message. */
  readonly newest: Entry
  readonly count: number
  readonly allProven: boolean
}

/** Everyone who has written, who wrote last first. */
export function participantsOf(entries: Iterable<Entry>): Participant[] {
  const byId = new Map<string, Participant>()
  for (const entry of entries) {
    const { author } = entry
    const id = authorId(author)
    const known = byId.get(id)
    const newest = known && known.newest.seq > entry.seq ? known.newest : entry
    byId.set(id, {
      author: newest.author,
      newest,
      count: (known?.count ?? 0) + 1,
      allProven: (known?.allProven ?? true) && author.proven === true,
    })
  }
  return [...byId.values()].sort((a, b) => b.newest.seq - a.newest.seq)
}

import type { Author, Entry } from '@atrium/room-client/space-ops'
import { guestName } from './guest-name.ts'
import { t } from '../text/text.ts'

/** Identifies an author: an account by its address, an agent by its id, a guest by the device key. */
export function authorId({ kind, id, email, key, name }: Author): string {
  return `${kind}:${id ?? email ?? key ?? name ?? ''}`
}

/**
 * The name to show. Accounts and agents choose theirs. A guest claims one, which is marked as a guest's; without a
 * claim, the name is derived from the device key.
 */
export function authorName({ kind, email, key, name }: Author): string {
  const chosen = cleanName(name)
  if (kind === 'anonymous') return chosen && isClaimable(chosen) ? t.tools.names.claimed(chosen) : keyName(key)
  const fallback = email ?? (kind === 'agent' ? t.authors.agent : t.authors.account)
  return chosen && !isTheReader(chosen) ? chosen : fallback
}

function keyName(key: string | undefined): string {
  return key === undefined ? t.authors.guest : guestName(key)
}

/** A guest may have any name except that of the reader, an e-mail address, and one that is too long for a line. */
export function isClaimable(name: string): boolean {
  return name.length <= MAX_CLAIMED_LENGTH && !name.includes('@') && !isTheReader(name)
}

/** Without what nobody sees. */
export function cleanName(name: string | undefined): string | undefined {
  return name?.replace(INVISIBLE, '').replace(/\s+/g, ' ').trim()
}

/** Invisible characters, and characters that change the direction of other text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu

/** Letters that look like those of "you", "du", "tú" and "vous", each with the letter that it resembles. */
const TWINS = new Map(
  Object.entries({ y: 'уүγ', o: 'оοօ0', u: 'υս', d: 'ԁ', t: 'тτ', v: 'νѵ', s: 'ѕꜱ' }).flatMap(([letter, twins]) =>
    [...twins].map((twin) => [twin, letter] as const),
  ),
)

/** The app calls the reader "You". An account or agent of that name would appear to be the reader. */
function isTheReader(name: string): boolean {
  return lettersOf(name) === lettersOf(t.authors.you)
}

/** The name as it looks: without accents, spaces and punctuation. */
function lettersOf(name: string): string {
  const letters = [...name.normalize('NFKD').toLowerCase()].filter((character) => /[\p{L}\p{N}]/u.test(character))
  return letters.map((letter) => TWINS.get(letter) ?? letter).join('')
}

const MAX_CLAIMED_LENGTH = 80

/**
 * The verified identity beside the name: the e-mail address from the identity provider, or a note that there is none.
 */
export function authorNote({ kind, email, key, name }: Author): string | undefined {
  if (kind === 'anonymous') {
    const chosen = cleanName(name)
    return chosen && isClaimable(chosen) && key !== undefined ? t.tools.names.unverified(guestName(key)) : t.authors.unverified
  }
  return kind === 'account' && name !== undefined ? email : undefined
}

/** The name as it is read out. */
export function spokenName(author: Author): string {
  const name = authorName(author)
  if (author.kind === 'agent') return t.authors.spokenAgent(name)
  const note = authorNote(author)
  return note === undefined ? name : t.authors.spoken(name, note)
}

/** One or two letters for the avatar. */
export function initials(author: Author): string {
  if (author.kind === 'anonymous' && author.key === undefined) return '·'
  const claimed = author.kind === 'anonymous' ? cleanName(author.name) : undefined
  const name = claimed && isClaimable(claimed) ? claimed : authorName(author)
  // The part of an address before the @, because the rest names a provider.
  const shown = name === author.email ? name.slice(0, name.lastIndexOf('@')) : name
  const words = (shown.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, author.kind === 'anonymous' ? 2 : undefined)
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]]
  return letters
    .map((word) => [...(word ?? '·')][0])
    .join('')
    .toUpperCase()
}

const TINTS = 8

/** One of a few tints. An author always has the same one. */
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

/** Everyone who has written, the latest author first. */
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

import { findBreak } from '@atrium/sealing/chain'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import type { Author, Entry } from '@atrium/room-client/space-ops'
import type { Head } from '../room/room-state.ts'
import type { Report } from './check.ts'
import { sha256, toHex, utf8 } from './encoding.ts'
import { fetchSealed, hashLines, isTurn, linesOf, type OpenedRecord, openLines } from './sealed-history.ts'

const AUTHOR_PARTS = ['kind', 'id', 'name', 'email', 'key', 'proven'] as const

/** What this browser has seen of the room. */
export interface SeenHistory {
  /** Where the history ended, now and on the visit before. */
  readonly heads: readonly Head[]
  readonly entries: readonly Entry[]
}

/** Fetches the stored bytes, and checks them with the key from the link. The key stays here. */
export async function checkRoom(secret: RoomSecret, { heads, entries }: SeenHistory, report: Report): Promise<void> {
  const answer = await fetchSealed(secret.room)
  const bytes = utf8(answer.sealed)
  const lines = linesOf(answer)
  const isWhole = toHex(await sha256(bytes)) === answer.sha256 && bytes.length === answer.bytes
  report({
    id: 'bytes',
    verdict: isWhole ? 'proved' : 'failed',
    title: isWhole ? 'What is stored is what the service says it is' : 'The stored bytes are not those the service speaks of',
    text: `${bytes.length.toLocaleString()} bytes, SHA-256 ${answer.sha256.slice(0, 16)}…`,
  })

  const strangers = recipientsOf(lines).filter((recipient) => recipient !== 'room')
  report({
    id: 'recipients',
    verdict: strangers.length === 0 && answer.recipients.every((name) => name === 'room') ? 'proved' : 'failed',
    title: strangers.length === 0 ? 'Only the room’s key can open it' : 'Someone else can open it, too',
    text:
      strangers.length === 0
        ? 'Every line names one recipient: whoever holds the link. There is no key for the operator.'
        : `Further recipients: ${strangers.join(', ')}.`,
  })

  const opened = await openLines(secret, lines).catch(() => undefined)
  report({
    id: 'opens',
    verdict: opened ? 'proved' : 'failed',
    title: opened ? 'Your key opens all of it' : 'Your key does not open all of it',
    text: opened
      ? `${lines.length.toLocaleString()} sealed lines were opened on this device. The key was not sent for that.`
      : 'At least one stored line is damaged, or was sealed under another key.',
  })

  const hashes = await hashLines(lines)
  const problem = findBreak(lines, hashes, { fromSeq: 0 })
  const isGrown = heads.every(({ count, etag }) => hashes[count - 1] === etag)
  report({
    id: 'chain',
    verdict: problem || !isGrown ? 'failed' : 'proved',
    title: problem || !isGrown ? 'The history was altered' : 'Nothing was altered, left out or put in between',
    text: problem
      ? `The chain breaks at line ${problem.seq}.`
      : isGrown
        ? 'Each line holds the hash of the one before, from the first to the last this page was shown, now and on your last visit.'
        : 'It does not lead to the line that this browser was shown last.',
  })

  if (opened) report(comparison(opened, entries))
}

/** Derived from the lines, not taken from the answer. */
function recipientsOf(lines: readonly string[]): string[] {
  const names = lines.flatMap((line) => {
    try {
      const { recipients } = JSON.parse(line) as { recipients: { header: { kid: string } }[] }
      return recipients.map(({ header }) => header.kid)
    } catch {
      return ['unreadable']
    }
  })
  return [...new Set(names)]
}

function comparison(opened: readonly OpenedRecord[], entries: readonly Entry[]) {
  const records = new Map(opened.filter(isTurn).map(({ seq, record }) => [seq, record]))
  const other = entries.filter(({ seq, id, at, author, message }) => {
    const record = records.get(seq)
    if (!record || record.id !== id || record.at !== at || record.message.text !== message.text) return true
    const stored: Author = record.author
    return AUTHOR_PARTS.some((part) => stored[part] !== author[part])
  })
  const isSame = other.length === 0
  return {
    id: 'shown',
    verdict: isSame ? 'proved' : 'failed',
    title: isSame ? 'You were shown what is stored' : 'You were shown something that is not stored',
    text: isSame
      ? `${entries.length.toLocaleString()} messages on this page were compared with the sealed ones, word for word.`
      : `${other.length} messages differ. The first is number ${other[0]?.seq}.`,
  } as const
}

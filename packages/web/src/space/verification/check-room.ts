import { findBreak } from '@atrium/sealing/chain'
import { LineReader } from '@atrium/room-client/line-reader'
import type { Author, Entry, SealedRoom } from '@atrium/room-client/space-ops'
import { deriveClientKeys } from '@atrium/sealing/client-sealed'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import type { RoomLink } from '../room-link.ts'
import type { RoomSession } from '../room/room-session.ts'
import { type Check, type Report, type SeenHistory, unreadable } from './check.ts'
import { checkListed } from './check-listed.ts'
import { sha256, toHex, utf8 } from './encoding.ts'
import { fetchSealed, hashLines, isTurn, linesOf, openLines } from './sealed-history.ts'
import { list } from '../text/format.ts'
import { t } from '../text/text.ts'

const AUTHOR_PARTS = ['kind', 'id', 'name', 'email', 'key', 'proven'] as const

/** Fetches the stored bytes and checks them with the key from the link. The key is not sent. */
export async function checkRoom(
  { secret: link, listed }: Pick<RoomSession, 'secret' | 'listed'>,
  seen: SeenHistory,
  report: Report,
): Promise<void> {
  const answer = await fetchSealed(link.room)
  report(await bytesOf(answer))
  if (listed) return checkListed({ link, device: listed.own.device, answer }, seen, report)
  return link.kind === 'classic' ? checkClassic(link, answer, seen, report) : checkClientSealed(link, answer, seen, report)
}

async function bytesOf(answer: SealedRoom): Promise<Check> {
  const bytes = utf8(answer.sealed)
  const isWhole = toHex(await sha256(bytes)) === answer.sha256 && bytes.length === answer.bytes
  return {
    id: 'bytes',
    verdict: isWhole ? 'proved' : 'failed',
    title: isWhole ? t.protection.bytes.proved : t.protection.bytes.failed,
    text: t.protection.bytes.text(bytes.length, answer.sha256.slice(0, 16)),
  }
}

/** Reads the whole room anew, as it did when it was opened. */
async function checkClientSealed(
  link: RoomLink,
  answer: SealedRoom,
  { heads, entries }: SeenHistory,
  report: Report,
): Promise<void> {
  const lines = linesOf(answer)
  const hashes = await hashLines(lines)
  let read: Entry[]
  try {
    read = await new LineReader(await deriveClientKeys(link)).take({ lines, count: lines.length, etag: hashes.at(-1) ?? '' })
  } catch (error) {
    return report(unreadable(error))
  }
  const { recipients, opens, chain, seen } = t.protection
  report({ id: 'recipients', verdict: 'proved', title: recipients.proved, text: recipients.directText })
  report({ id: 'opens', verdict: 'proved', title: opens.proved, text: opens.provedText(lines.length) })
  const isGrown = heads.every(({ count, etag }) => hashes[count - 1] === etag)
  report({
    id: 'chain',
    verdict: isGrown ? 'proved' : 'failed',
    title: isGrown ? chain.proved : chain.failed,
    text: isGrown ? chain.provedText : chain.shorter,
  })
  report({ id: 'seen', verdict: 'proved', ...seen })
  report(comparison(new Map(read.map((entry) => [entry.seq, entry])), entries))
}

async function checkClassic(
  secret: RoomSecret,
  answer: SealedRoom,
  { heads, entries }: SeenHistory,
  report: Report,
): Promise<void> {
  const lines = linesOf(answer)
  const strangers = recipientsOf(lines).filter((recipient) => recipient !== 'room')
  report({
    id: 'recipients',
    verdict: strangers.length === 0 && answer.recipients.every((name) => name === 'room') ? 'proved' : 'failed',
    title: strangers.length === 0 ? t.protection.recipients.proved : t.protection.recipients.failed,
    text: strangers.length === 0 ? t.protection.recipients.provedText : t.protection.recipients.failedText(list(strangers)),
  })

  const opened = await openLines(secret, lines).catch(() => undefined)
  report({
    id: 'opens',
    verdict: opened ? 'proved' : 'failed',
    title: opened ? t.protection.opens.proved : t.protection.opens.failed,
    text: opened ? t.protection.opens.provedText(lines.length) : t.protection.opens.failedText,
  })

  const hashes = await hashLines(lines)
  const problem = findBreak(lines, hashes, { fromSeq: 0 })
  const isGrown = heads.every(({ count, etag }) => hashes[count - 1] === etag)
  report({
    id: 'chain',
    verdict: problem || !isGrown ? 'failed' : 'proved',
    title: problem || !isGrown ? t.protection.chain.failed : t.protection.chain.proved,
    text: problem ? t.protection.chain.breaks(problem.seq) : isGrown ? t.protection.chain.provedText : t.protection.chain.shorter,
  })

  if (opened) report(comparison(new Map(opened.filter(isTurn).map(({ seq, record }) => [seq, record])), entries))
}

/** Computed from the lines, not taken from the answer. */
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

function comparison(records: ReadonlyMap<number, Pick<Entry, 'id' | 'at' | 'author' | 'message'>>, entries: readonly Entry[]) {
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
    title: isSame ? t.protection.shown.proved : t.protection.shown.failed,
    text: isSame
      ? t.protection.shown.provedText(entries.length)
      : t.protection.shown.failedText(other.length, other[0]?.seq ?? 0),
  } as const
}

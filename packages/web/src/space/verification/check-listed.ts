import { ListedReader } from '@atrium/room-client/listed-reader'
import type { RoomDevice } from '@atrium/room-client/room-device'
import type { Entry, SealedRoom } from '@atrium/room-client/space-ops'
import { ownerIn, type RoomLink } from '../room-link.ts'
import { t } from '../text/text.ts'
import { type Report, type SeenHistory, unreadable } from './check.ts'
import { hashLines, linesOf } from './sealed-history.ts'

export interface Listed {
  readonly link: RoomLink
  readonly device: RoomDevice
  readonly answer: SealedRoom
}

/** Opens what is stored of a room with a list, with the keys of this device. Throws TamperedRoomError. */
export async function openListed({ link, device, answer }: Listed) {
  const lines = linesOf(answer)
  const hashes = await hashLines(lines)
  const reader = new ListedReader({ room: link.room, owner: ownerIn(link), device })
  const entries = await reader.take({ lines, count: lines.length, etag: hashes.at(-1) ?? '' })
  return { lines, hashes, reader, entries }
}

/** Reads the whole room anew: its lists, the changes of its key, and who signed each message. */
export async function checkListed(listed: Listed, { heads, entries: shown }: SeenHistory, report: Report): Promise<void> {
  let opened: Awaited<ReturnType<typeof openListed>>
  try {
    opened = await openListed(listed)
  } catch (error) {
    return report(unreadable(error))
  }
  const { lines, hashes, reader, entries } = opened
  const { lists, generation, devices, unopened, agents } = reader.summary
  const { opens, chain, seen } = t.protection
  const words = t.sealed.checks
  report(
    agents.length === 0
      ? { id: 'recipients', verdict: 'proved', title: words.recipients, text: words.recipientsText(devices) }
      : { id: 'recipients', verdict: 'trusted', title: words.operator, text: words.operatorText(agents) },
  )
  const isOpen = unopened === 0
  report({
    id: 'opens',
    verdict: isOpen ? 'proved' : 'unknown',
    title: isOpen ? opens.proved : opens.failed,
    text: isOpen ? opens.provedText(lines.length) : words.unopened(unopened),
  })
  report({ id: 'lists', verdict: 'proved', title: words.lists, text: words.listsText(lists, generation) })
  report({ id: 'authors', verdict: 'proved', title: words.authors, text: words.authorsText(entries.length) })
  const isGrown = heads.every(({ count, etag }) => hashes[count - 1] === etag)
  report({
    id: 'chain',
    verdict: isGrown ? 'proved' : 'failed',
    title: isGrown ? chain.proved : chain.failed,
    text: isGrown ? chain.provedText : chain.shorter,
  })
  report({ id: 'seen', verdict: 'proved', ...seen })
  report(compare(new Map(entries.map((entry) => [entry.seq, entry])), shown))
}

function compare(stored: ReadonlyMap<number, Entry>, shown: readonly Entry[]) {
  const other = shown.filter(({ seq, id, at, author, message }) => {
    const entry = stored.get(seq)
    return entry?.id !== id || entry.at !== at || entry.message.text !== message.text || entry.author.key !== author.key
  })
  const words = t.protection.shown
  return other.length === 0
    ? ({ id: 'shown', verdict: 'proved', title: words.proved, text: words.provedText(shown.length) } as const)
    : ({ id: 'shown', verdict: 'failed', title: words.failed, text: words.failedText(other.length, other[0]?.seq ?? 0) } as const)
}

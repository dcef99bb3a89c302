import type { TamperProblem } from '../line-reader.ts'
import { after, memberKey, openListed, ownerKey } from './tampered-listed-rooms.ts'
import { pageOf, restored } from './tampered-rooms.ts'

const hash = 'A'.repeat(43)
/** The same bytes in another spelling: the last character has bits that no byte has. */
const stray = `${hash.slice(0, 42)}B`

async function respelled(change: (line: string) => string): Promise<object[]> {
  const { sealed } = await openListed()
  return [await pageOf(await restored(sealed.with(5, change(sealed[5]!))))]
}

/** What has another spelling, or names in the wrong list. As in tampered-listed-rooms.ts. */
export const tamperedSpellings: Record<string, [TamperProblem, () => Promise<object[]>]> = {
  'the tag of a line has a stray bit': ['form', () => respelled((line) => line.replace(/"tag":"(.{21})./, '"tag":"$1B'))],
  'the header of a line has a length that no bytes have': [
    'form',
    () =>
      respelled((line) =>
        line.replace(
          /"protected":"(.*?)"/,
          (_, head: string) => `"protected":"${head.padEnd(4 * Math.ceil(head.length / 4) + 1, 'A')}"`,
        ),
      ),
  ],
  'the name of a device that was removed has a stray bit': ['policy', () => after((store) => store.change({ revoked: [stray] }))],
  'a device that was removed is named twice': ['policy', () => after((store) => store.change({ revoked: [hash, hash] }))],
  'a device is on the list and removed': [
    'policy',
    () => after((store) => store.change({ devices: [ownerKey, memberKey], revoked: [memberKey] })),
  ],
}

/** An honest list, which names a device as removed that was never on it. */
export async function openWithUnknownRevoked(): Promise<object[]> {
  return after((store) => store.change({ revoked: [hash] }))
}

import { createHash, type KeyObject } from 'node:crypto'
import { DamagedLine } from '@atrium/sealing/damaged-line'
import { InvalidRecord } from '@atrium/sealing/invalid-record'
import { LINE_SEPARATOR } from '@atrium/sealing/line'
import { checkChain, lineHash, openLine } from '@atrium/sealing/node-lines'
import { parseRecord, type RoomRecord } from '@atrium/sealing/records'
import { deriveRoomKey } from '@atrium/sealing/room-key'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { WrongKey } from '@atrium/sealing/wrong-key'
import type { Deadline } from './deadline.ts'
import { type Downloads, ROOM } from './download.ts'
import { CheckFailed, type Report } from './report.ts'

/**
 * The largest room, with the lists for which a full one still has space (`policyLimits` in
 * packages/space/src/rooms/head.ts). The limit bounds the memory of the check.
 */
const MAX_BYTES = 68 * 1024 * 1024
const MAX_LINES = 100_064
/** Far above the sealed base64url of any message or list of members. */
const MAX_LINE_LENGTH = 8 * 1024 * 1024

/** Checks the stored lines of the room. They are fetched by the room's name, without its key, and opened here. */
export async function checkRoom(
  report: Report,
  downloads: Downloads,
  { room, mk }: RoomSecret,
  deadline: Deadline,
): Promise<void> {
  const lines = await report.check(`room ${room}`, async () => {
    const answer = await downloads.getJson('/space', ROOM, { op: 'sealed', room })
    const lines = readSealed(answer)
    report.proved(`room ${room}: its ${lines.length} stored lines are sealed to the room's key alone and form one unbroken chain`)
    return lines
  })
  const last = lines?.at(-1)
  if (!lines || last === undefined) return
  await report.check(`opening room ${room}`, () => {
    const records = openAll(lines, deriveRoomKey({ room, mk }), deadline)
    const turns = records.filter(({ t }) => t === 'turn').length
    report.proved(
      `the key in your link, which never left this machine, opens every line: ${turns} messages, ${whoMayEnter(records)}`,
    )
  })
  report.notChecked(
    `that no newer lines are kept back from you: the history ends in ${lineHash(last)}, which must be the same for all of you`,
  )
}

/** Checks everything that does not need the key. */
function readSealed(answer: Record<string, unknown>): string[] {
  const { recipients } = answer
  const lines = readStoredLines(answer)
  if (!Array.isArray(recipients) || recipients.length !== 1 || recipients[0] !== 'room') {
    throw new CheckFailed(`others than the room can decrypt it: ${JSON.stringify(recipients)}`)
  }
  // A line passes only with the single recipient `room`. The `recipients` of the answer are not trusted.
  const broken = checkChain(lines, { fromSeq: 0 })
  if (broken)
    throw new CheckFailed(`line ${broken.seq} does not follow (${broken.problem}): it was altered, or lines are missing`)
  return lines
}

/** The lines in an answer of `sealed`, of either kind of room. */
export function readStoredLines({ alg, bytes, sha256, sealed }: Record<string, unknown>): string[] {
  if (alg !== 'A256GCM' || typeof sealed !== 'string') throw new CheckFailed('the answer is not sealed with A256GCM')
  if (bytes !== Buffer.byteLength(sealed)) throw new CheckFailed('the length of the answer differs from its field bytes')
  if (sha256 !== createHash('sha256').update(sealed).digest('hex'))
    throw new CheckFailed('the SHA-256 of the answer differs from its field sha256')
  return splitLines(sealed)
}

/** Counts the lines before it splits the text, because a text of line ends would need a hundred times its memory. */
function splitLines(sealed: string): string[] {
  if (sealed.length > MAX_BYTES) throw new CheckFailed(`the answer contains more than ${MAX_BYTES} bytes, and no room does`)
  let count = 1
  for (let at = sealed.indexOf(LINE_SEPARATOR); at !== -1; at = sealed.indexOf(LINE_SEPARATOR, at + 1)) {
    if (++count > MAX_LINES) throw new CheckFailed(`the answer contains more than ${MAX_LINES} lines, and no room does`)
  }
  const lines = sealed.split(LINE_SEPARATOR)
  const tooLong = lines.findIndex((line) => line.length > MAX_LINE_LENGTH)
  if (tooLong !== -1) throw new CheckFailed(`line ${tooLong} is longer than any line of a room`)
  return lines
}

function openAll(lines: readonly string[], key: KeyObject, deadline: Deadline): RoomRecord[] {
  const records = lines.map((line, seq) => {
    deadline.check()
    try {
      return parseRecord(openLine({ key, line }).payload)
    } catch (error) {
      if (error instanceof WrongKey) throw new CheckFailed(`the key in your link does not open line ${seq}`)
      if (error instanceof DamagedLine) throw new CheckFailed(`line ${seq} was altered`)
      if (error instanceof InvalidRecord)
        throw new CheckFailed(`line ${seq} was sealed with the key, but is not a record of a room`)
      throw error
    }
  })
  if (records[0]?.t !== 'policy') throw new CheckFailed('line 0 does not say who may enter')
  return records
}

function whoMayEnter(records: readonly RoomRecord[]): string {
  const policy = records.findLast(({ t }) => t === 'policy')
  if (policy?.t !== 'policy' || policy.policy === 'open') return 'open to anyone with the link'
  const members = [...(policy.allow ?? []), ...(policy.agents ?? [])].filter(
    ({ revoked_at: revokedAt }) => revokedAt === undefined,
  )
  return `${members.length} accounts on the list`
}

import { deriveClientKeys } from '@atrium/sealing/client-sealed'
import { lineHash } from '@atrium/sealing/node-lines'
import { LineReader } from '@atrium/room-client/line-reader'
import { TamperedRoomError, type TamperProblem } from '@atrium/room-client/tampered-room-error'
import { ListedReader } from '@atrium/room-client/listed-reader'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'
import { generateDevicePairs, importPairs, roomDeviceOf } from '@atrium/room-client/room-device'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import type { Deadline } from './deadline.ts'
import { type Downloads, ROOM } from './download.ts'
import { CheckFailed, type Report } from './report.ts'
import { readStoredLines } from './room.ts'
import type { ListedTarget } from './target.ts'

/** How many lines are opened at a time. */
export const PAGE_LINES = 500
/** `recipients` has up to 10,001 names: those of the devices that were ever on a list, and one for all further ones. */
const LISTED_ROOM = { ...ROOM, maxParts: 10_016 }

/** Checks a room whose lines the clients seal. Only its name is sent. */
export async function checkClientSealedRoom(
  report: Report,
  downloads: Downloads,
  target: RoomSecret | ListedTarget,
  deadline: Deadline,
): Promise<void> {
  const { room } = target
  const lines = await report.check(`room ${room}`, async () =>
    readStoredLines(await downloads.getJson('/space', LISTED_ROOM, { op: 'sealed', room })),
  )
  const last = lines?.at(-1)
  if (!lines || last === undefined) return
  await report.check(`room ${room}`, () =>
    'mk' in target ? checkOpenRoom(report, target, lines, deadline) : checkListedRoom(report, target, lines, deadline),
  )
  await report.check(`the ops that take a key, for room ${room}`, () => checkRefusals(report, downloads, room))
  report.notChecked(
    `that no newer lines are kept back from you: the history ends in ${lineHash(last)}, which must be the same for all of you`,
  )
}

async function checkOpenRoom(report: Report, secret: RoomSecret, lines: readonly string[], deadline: Deadline): Promise<void> {
  const reader = new LineReader(await deriveClientKeys(secret))
  const entries = await readAll((page) => reader.take(page), lines, deadline)
  report.proved(
    `room ${secret.room}: its ${lines.length} lines form one unbroken chain, and the key in your link, which never left this machine, opens each: ${entries.length} messages, open to anyone with the link`,
  )
  report.proved(`each author had sealed which line was the last one that it saw, and all of them saw this history`)
  if (reader.farewell)
    report.proved(`line ${reader.farewell.seq} is a farewell, by somebody with the link: its members go on in another room`)
  report.notChecked('who wrote what: in an open room, a name is a claim')
}

async function checkListedRoom(
  report: Report,
  { room, owner, keys }: ListedTarget,
  lines: readonly string[],
  deadline: Deadline,
): Promise<void> {
  // Without a key, a device that is on no list reads what is signed in the clear.
  const device = keys === undefined ? await roomDeviceOf(await generateDevicePairs()) : await importPairs(keys)
  const reader = new ListedReader({ room, owner, device })
  const entries = await readAll((page) => reader.take(page), lines, deadline)
  const { lists, generation, devices, unopened, agents } = reader.summary
  report.proved(`room ${room}: its ${lines.length} lines form one unbroken chain`)
  report.proved(
    `the device ${owner} owns the room: it has signed ${lists} lists, each for the one before; the newest names ${devices} devices and open invitations`,
  )
  report.proved(
    `the key has changed ${generation} times, each time together with the access key that the owner has signed; no device left a list without a new key`,
  )
  report.proved(
    agents.length === 0
      ? 'the newest list lets the operator of no agent read along'
      : `the newest list lets the operator of ${agents.join(', ')} read along: the owner has consented to it`,
  )
  if (keys === undefined) {
    report.notChecked('the messages and their authors: this needs the keys of a device or an invitation (#ROOM~OWNER~KEYS)')
    return
  }
  const authors = new Set(entries.map(({ author }) => author.key))
  report.proved(
    `your keys, which never left this machine, open ${lines.length - unopened} lines: ${entries.length} messages by ${authors.size} devices, each signed by a device that was on the list at its place`,
  )
  if (unopened > 0) report.notChecked(`the last ${unopened} lines: the owner has sealed their key for others only`)
  report.notChecked('whose devices these are: the app shows the ID tokens that they have sealed')
}

async function readAll<Entry>(
  take: (page: { lines: string[]; count: number; etag: string }) => Promise<Entry[]>,
  lines: readonly string[],
  deadline: Deadline,
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let from = 0; from < lines.length; from += PAGE_LINES) {
    deadline.check()
    const page = lines.slice(from, from + PAGE_LINES)
    try {
      entries.push(...(await take({ lines: page, count: from + page.length, etag: lineHash(page.at(-1) ?? '') })))
    } catch (error) {
      if (!(error instanceof TamperedRoomError)) throw error
      throw new CheckFailed(`line ${error.seq} (${error.problem}): ${meanings[error.problem]}`)
    }
  }
  return entries
}

const meanings: Record<TamperProblem, string> = {
  form: 'it is not in the form of a line',
  number: 'it has the number of another place: lines are missing, repeated or swapped',
  chain: 'it does not follow the line before',
  end: 'the lines do not end where the service says',
  count: 'there are other lines than the service counts',
  rewritten: 'the history was replaced',
  sealed: 'the key does not open it, or it was sealed for another room or generation',
  ahead: 'its author had seen a line that does not come before it: lines are missing or swapped',
  fork: 'its author had seen another history',
  replay: 'the message came before',
  record: 'what is sealed in it is no record of a room',
  policy: 'the list is not one that may stand here',
  signature: 'it is not signed by the device that it names',
  author: 'its author was not on the list',
  recipients: 'the list is not sealed to exactly its devices',
  key: 'the room key is not the one of which the owner has signed the access key',
}

/** Too many requests, and a service that is too busy: they say nothing about the room. */
const NOT_NOW = new Set([429, 503])

/** Each op that takes a room key, with a key that is made up. A service that reads such rooms would look at it. */
async function checkRefusals(report: Report, downloads: Downloads, room: string): Promise<void> {
  const { mk } = newRoomSecret()
  const requests = [
    { op: 'poll' },
    { op: 'turn', message: { text: 'atrium verify' } },
    { op: 'create', policy: 'open' },
    { op: 'admit', emails: ['verify@example.com'] },
    { op: 'expel', emails: ['verify@example.com'] },
    { op: 'rename', title: 'atrium verify' },
    { op: 'remove' },
  ]
  const refused: string[] = []
  for (const request of requests) {
    const { status, answer } = await downloads.refusal('/space', { ...request, room, mk })
    if (NOT_NOW.has(status)) {
      report.notChecked(`that ${request.op} with a room key is refused for this room: it answers ${status}. Try again later`)
      continue
    }
    const { error, reason } = answer
    // `create` refuses every name that is in use.
    const isRefused = reason === 'client_sealed' || (request.op === 'create' && reason === 'room')
    if (status !== 409 || error !== 'room_exists' || !isRefused)
      throw new CheckFailed(`${request.op} with a room key is not refused: it answers ${status}`)
    refused.push(request.op)
  }
  const which = refused.length === requests.length ? 'every op that takes a room key' : 'ops that take a room key'
  if (refused.length > 0) report.proved(`the service refuses ${which}, for this room (${refused.join(', ')})`)
}

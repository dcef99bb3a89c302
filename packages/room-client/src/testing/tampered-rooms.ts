import { type ClientKeys, deriveClientKeys, sealClientLine, type Seen } from '@atrium/sealing/client-sealed'
import { placeLine } from '@atrium/sealing/signed-request'
import { lineHash } from '@atrium/sealing/web-lines'
import { policyRecord } from '../line-reader.ts'
import type { TamperProblem } from '../tampered-room-error.ts'
import type { Turn } from '../turn.ts'

export const secret = { room: 'lantern', mk: 'b0hPz2S0cPq1f3m8Wq4e5r6t7y8u9i0oAbCdEfGhIjk' }
export const keys = await deriveClientKeys(secret)
const other = await deriveClientKeys({ ...secret, room: 'harbour' })

/** A service that stores what it is given, as an honest one does. */
export class Store {
  lines: string[] = []
  readonly sealed: string[] = []

  async append(line: string): Promise<void> {
    const last = this.lines.at(-1)
    this.sealed.push(line)
    this.lines.push(placeLine(line, { seq: this.lines.length, prev: last && (await lineHash(last)) }))
  }

  async seen(seq = this.lines.length - 1): Promise<Seen | undefined> {
    const line = this.lines[seq]
    return line === undefined ? undefined : { seq, hash: await lineHash(line) }
  }

  async say(id: string, more: { seen?: Seen | undefined; keys?: ClientKeys; record?: object | string } = {}): Promise<void> {
    const turn: Turn = { t: 'turn', id, at: '2026-11-23T09:30:00.000Z', text: `message ${id}` }
    const content = typeof more.record === 'string' ? more.record : JSON.stringify({ ...turn, ...more.record })
    const seen = 'seen' in more ? more.seen : await this.seen()
    await this.append(await sealClientLine(more.keys ?? keys, { seen, content }))
  }
}

export async function open(turns: number, more: { keys?: ClientKeys; first?: string } = {}): Promise<Store> {
  const store = new Store()
  await store.append(await sealClientLine(more.keys ?? keys, { content: more.first ?? policyRecord }))
  for (let n = 1; n <= turns; n++) await store.say(`m${n}`, more.keys && { keys: more.keys })
  return store
}

export const pageOf = async (lines: string[], more: object = {}, from = 0) => {
  const last = lines.at(-1)
  return { lines, count: from + lines.length, etag: last === undefined ? '' : await lineHash(last), ...more }
}

/** What the service would store if it had got these sealed lines in this order. */
export async function restored(sealed: (string | undefined)[]): Promise<string[]> {
  const store = new Store()
  for (const line of sealed) if (line !== undefined) await store.append(line)
  return store.lines
}

const honest = await open(6)
const { lines, sealed } = honest
const fork = await open(2)
for (const line of sealed.slice(3)) await fork.append(line)

export const swap = (text: string, part: string) => {
  const at = text.indexOf(`"${part}":"`) + part.length + 4
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}
const changed = (seq: number, change: (line: string) => string) => lines.map((line, i) => (i === seq ? change(line) : line))
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** The same bytes in another spelling: the last character has bits that no byte has. */
const strayed = (hash: string) => hash.slice(0, -1) + alphabet[alphabet.indexOf(hash.slice(-1)) + 1]!
/** A message with a member that comes twice, the first time as lists that are nested this deep. */
const deepTwice = (deep: number) => {
  const members = '"t":"turn","id":"deep","at":"2026-11-23T09:30:00.000Z","text":"[{"'
  return `{${members},"x":${'['.repeat(deep)}${']'.repeat(deep)},"x":1}`
}
const without = (list: string[], seq: number) => list.filter((_, i) => i !== seq)
const swapped = (list: string[], seq: number) => list.with(seq, list[seq + 1]!).with(seq + 1, list[seq]!)

async function saying(more: Parameters<Store['say']>[1]): Promise<string[]> {
  const store = await open(3)
  await store.say('x', more)
  return store.lines
}

/** Each as the pages that a reader gets, and what it must say. */
export const tamperedRooms: Record<string, [TamperProblem, () => Promise<object[]>]> = {
  'a line is left out': ['number', async () => [await pageOf(without(lines, 3))]],
  'the first line is left out': ['number', async () => [await pageOf(lines.slice(1))]],
  'the last line is left out, the etag is not': ['count', async () => [await pageOf(lines.slice(0, -1), { count: 7 })]],
  'the last line is left out, and counted out': [
    'end',
    async () => [await pageOf(lines.slice(0, -1), { etag: await lineHash(lines.at(-1)!) })],
  ],
  'two lines are swapped': ['number', async () => [await pageOf(swapped(lines, 2))]],
  'a line comes twice': ['number', async () => [await pageOf(lines.toSpliced(3, 0, lines[2]!))]],
  'a line is left out and the rest placed anew': ['ahead', async () => [await pageOf(await restored(without(sealed, 3)))]],
  'the last but one is left out and the rest placed anew': [
    'ahead',
    async () => [await pageOf(await restored(without(sealed, 5)))],
  ],
  'two lines are swapped and placed anew': ['ahead', async () => [await pageOf(await restored(swapped(sealed, 2)))]],
  'a line comes twice and is placed anew': ['replay', async () => [await pageOf(await restored([...sealed, sealed[2]]))]],
  'the order is reversed and placed anew': ['ahead', async () => [await pageOf(await restored(sealed.toReversed()))]],
  'the policy comes again': ['ahead', async () => [await pageOf(await restored([...sealed, sealed[0]]))]],
  'the ciphertext is altered': [
    'sealed',
    async () => [await pageOf(await restored(sealed.with(6, swap(sealed[6]!, 'ciphertext'))))],
  ],
  'the tag is altered': ['sealed', async () => [await pageOf(await restored(sealed.with(6, swap(sealed[6]!, 'tag'))))]],
  'the iv is altered': ['sealed', async () => [await pageOf(await restored(sealed.with(6, swap(sealed[6]!, 'iv'))))]],
  'the header is altered': ['sealed', async () => [await pageOf(await restored(sealed.with(6, swap(sealed[6]!, 'protected'))))]],
  'a line is altered where it stands': ['chain', async () => [await pageOf(changed(3, (line) => swap(line, 'ciphertext')))]],
  'the number of a line is altered': [
    'number',
    async () => [await pageOf(changed(3, (line) => line.replace('"seq":3', '"seq":4')))],
  ],
  'the hash of the line before is altered': ['chain', async () => [await pageOf(changed(3, (line) => swap(line, 'prev')))]],
  'a line has no hash of the line before': [
    'form',
    async () => [await pageOf(changed(3, (line) => line.replace(/,"prev":"[^"]*"/, '')))],
  ],
  'a line says that it is the first, with a hash of the line before': [
    'form',
    async () => [await pageOf(changed(3, (line) => line.replace('"seq":3', '"seq":0')))],
  ],
  'a later page begins with such a line': [
    'form',
    async () => {
      const late = changed(3, (line) => line.replace('"seq":3', '"seq":0')).slice(3)
      return [await pageOf(lines.slice(0, 3)), await pageOf(late, {}, 3)]
    },
  ],
  'the first line has the number of a later one, and no hash': [
    'form',
    async () => [await pageOf(changed(0, (line) => line.replace('"seq":0', '"seq":7')))],
  ],
  'a line has an encrypted key': [
    'form',
    async () => [await pageOf(await restored(sealed.with(3, sealed[3]!.replace(',"iv"', ',"encrypted_key":"AAAA","iv"'))))],
  ],
  'a line has another spelling': ['form', async () => [await pageOf(changed(3, (line) => line.replace(',', ', ')))]],
  'a line has one more member': [
    'form',
    async () => [await pageOf(changed(3, (line) => line.replace('},"iv"', '},"x":"1","iv"')))],
  ],
  'a line is no JWE': ['form', async () => [await pageOf(changed(3, () => '{}'))]],
  'a line is of another room': [
    'sealed',
    async () => [await pageOf(await restored([...sealed.slice(0, 3), (await open(3, { keys: other })).sealed[3]]))],
  ],
  'lines of a fork are put behind': ['fork', async () => [await pageOf(fork.lines)]],
  'an author names a line that is not there yet': [
    'ahead',
    async () => [await pageOf(await saying({ seen: { seq: 9, hash: 'A'.repeat(43) } }))],
  ],
  'an author names another line': ['fork', async () => [await pageOf(await saying({ seen: { seq: 2, hash: 'A'.repeat(43) } }))]],
  'an author names a hash in another spelling': [
    'sealed',
    async () => {
      const store = await open(3)
      const { seq, hash } = (await store.seen())!
      await store.say('x', { seen: { seq, hash: strayed(hash) } })
      return [await pageOf(store.lines)]
    },
  ],
  'an author names none': ['ahead', async () => [await pageOf(await saying({ seen: undefined }))]],
  'what is sealed is no record': ['record', async () => [await pageOf(await saying({ record: 'hello' }))]],
  'a member that comes twice is nested too deep at first': [
    'record',
    async () => [await pageOf(await saying({ record: deepTwice(64) }))],
  ],
  'such a member is nested deeper than some parsers can read': [
    'record',
    async () => [await pageOf(await saying({ record: deepTwice(5_000) }))],
  ],
  'a message has no text': ['record', async () => [await pageOf(await saying({ record: { text: '' } }))]],
  'a farewell leads back into the room': [
    'record',
    async () => [await pageOf(await saying({ record: { t: 'farewell', link: `${secret.room}~${secret.mk}` } }))],
  ],
  'a farewell has no link': [
    'record',
    async () => [await pageOf(await saying({ record: { t: 'farewell', link: 'harbour.x' } }))],
  ],
  'a farewell comes twice': [
    'replay',
    async () => {
      const store = await open(2)
      for (let n = 0; n < 2; n++) await store.say('bye', { record: { t: 'farewell' } })
      return [await pageOf(store.lines)]
    },
  ],
  'the first line is a message': ['policy', async () => [await pageOf((await open(2, { first: '{"t":"turn"}' })).lines)]],
  'a byte order mark is before the policy': [
    'policy',
    async () => [await pageOf((await open(2, { first: `\ufeff${policyRecord}` })).lines)],
  ],
  'the policy ends in something else than spaces': [
    'policy',
    async () => [await pageOf((await open(2, { first: `${policyRecord}\n` })).lines)],
  ],
  'a later page starts over with other lines': [
    'rewritten',
    async () => [await pageOf(lines), await pageOf((await open(8)).lines)],
  ],
  'a later page has fewer lines': ['rewritten', async () => [await pageOf(lines), await pageOf([], { count: 5 })]],
  'a later page follows another line': [
    'chain',
    async () => [await pageOf(lines.slice(0, 3)), await pageOf(fork.lines.slice(3), {}, 3)],
  ],
  'an etag without lines is another': ['end', async () => [await pageOf(lines), { lines: [], count: 7, etag: 'A'.repeat(43) }]],
  'more lines are counted': ['count', async () => [await pageOf(lines, { count: 8 })]],
}

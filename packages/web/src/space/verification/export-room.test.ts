import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { sealHistory } from '@atrium/room-client/room-history'
import { LINE_SEPARATOR } from '@atrium/sealing/line'
import type { PolicyRecord, TurnRecord } from '@atrium/sealing/records'
import type { RoomLink } from '../room-link.ts'
import { exportPlain } from './export-room.ts'

const at = '2026-11-20T09:00:00.000Z'
const policy: PolicyRecord = { t: 'policy', at, policy: 'open' }
const turn = (text: string): TurnRecord => ({ t: 'turn', id: text, at, author: { kind: 'anonymous' }, message: { text } })
const texts = ['One', 'Two', 'Three']
const link: RoomLink = { kind: 'classic', room: 'harbour', mk: randomBytes(32).toString('base64url') }
const { sealed } = await sealHistory(link, [policy, ...texts.map(turn)])
const lines = sealed.split(LINE_SEPARATOR)

// What the page has, to find its service.
Object.assign(globalThis, { document: { documentElement: { dataset: {} } }, location: { origin: 'http://localhost:8788' } })

async function exportOf(t: TestContext, stored: string[]) {
  t.mock.method(globalThis, 'fetch', async () => Response.json({ sealed: stored.join(LINE_SEPARATOR) }))
  const { blob, damage } = await exportPlain({ secret: link, listed: undefined })
  const { policies, entries, ends_before: end } = JSON.parse(await blob.text())
  assert.deepEqual(end, damage && { seq: damage.seq, problem: damage.problem })
  return { policies: policies.length, texts: entries.map((entry: TurnRecord) => entry.message.text), end }
}

/** Changes a character in the middle of what the JWE has under this name. */
const alter = (line: string, name: string) =>
  line.replace(new RegExp(`("${name}":"[\\w-]{4})(.)`), (_, before: string, one: string) => before + (one === 'A' ? 'B' : 'A'))

test('the export of a room has all messages', async (t) => {
  assert.deepEqual(await exportOf(t, lines), { policies: 1, texts, end: undefined })
})

for (const [name, stored, expected] of [
  ['was altered', lines.with(2, alter(lines[2]!, 'tag')), { texts: ['One'], end: { seq: 2, problem: 'sealed' } }],
  [
    'has another key',
    lines.with(3, alter(lines[3]!, 'encrypted_key')),
    { texts: ['One', 'Two'], end: { seq: 3, problem: 'sealed' } },
  ],
  ['is missing', lines.toSpliced(2, 1), { texts: ['One'], end: { seq: 2, problem: 'number' } }],
  ['is none', lines.with(2, 'no line'), { texts: ['One'], end: { seq: 2, problem: 'form' } }],
] as const)
  test(`where a line ${name}, the export has the messages before it, and says where they end`, async (t) => {
    assert.deepEqual(await exportOf(t, [...stored]), { policies: 1, ...expected })
  })

test('where the first line has another key, the link is of another room, and nothing is exported', async (t) => {
  await assert.rejects(exportOf(t, lines.with(0, alter(lines[0]!, 'encrypted_key'))), { name: 'WrongKey' })
})

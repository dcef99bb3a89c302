import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Parser } from 'pg-protocol/dist/parser.js'
import { ServerMessages } from './server-messages.ts'
import { message } from './testing/fake-server.ts'

const int16 = (value: number) => {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
const field = (name: string, typeId: number) => [name, '\0', 1, int16(2), typeId, int16(-1), -1, int16(0)]
const text = (value: string) => [Buffer.byteLength(value), value]

const session = [
  message('R', 5, Buffer.from([0, 1, 254, 255])),
  message('R', 3),
  message('R', 10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0'),
  message('R', 11, 'r=ü,s=c2FsdA==,i=4096'),
  message('R', 12, 'v=x'),
  message('R', 0),
  message('S', 'TimeZone\0UTC\0'),
  message('K', 7, 8),
  message('Z', 'I'),
  message('N', 'SNOTICE\0C00000\0Mnote\0\0'),
  message('1'),
  message('2'),
  message('t', int16(1), 23),
  message('T', int16(3), ...field('', 2_147_483_647), ...field('ä€🎈', -1), ...field('n', 23)),
  message('D', int16(3), -1, ...text(''), ...text('ä€🎈\0'.repeat(50))),
  message('D', int16(0)),
  message('s'),
  message('C', 'SELECT 2\0'),
  message('T', int16(0)),
  message('n'),
  message('I'),
  message('3'),
  message('A', 9, 'channel\0', 'ü\0'),
  message('H', Buffer.from([0]), int16(1), int16(0)),
  message('G', Buffer.from([0]), int16(1), int16(0)),
  message('W', Buffer.from([0]), int16(0)),
  message('d', Buffer.from([0, 255, 10])),
  message('d'),
  message('c'),
  message('E', [...'SVCMDHPpqWstcdnFLR?'].map((letter) => `${letter}ü ${letter}\0`).join(''), '\0'),
  message('E', 'C22012\0D\0\0'),
  message('Z', 'E'),
]

/** What pg-protocol has of the messages of a server. */
interface Theirs {
  name: string
  fields: { name: string; dataTypeID: number }[]
  text: string
  chunk: Buffer
  [other: string]: unknown
}

/** The parts of a message of pg-protocol that Atrium uses, under their names here. */
function asOurs(theirs: Theirs): object {
  const { name, fields, text: tag, chunk, status, payload, salt, mechanisms, data } = theirs
  switch (name) {
    case 'dataRow':
      return { name, texts: fields }
    case 'rowDescription':
      return { name, columns: fields.map((column) => ({ name: column.name, typeId: column.dataTypeID })) }
    case 'commandComplete':
      return { name, tag }
    case 'copyData':
      return { name, data: chunk }
    case 'error':
      return errorFields(theirs)
    default: {
      const used = { name, status, payload, salt, mechanisms, data }
      return Object.fromEntries(Object.entries(used).filter(([, value]) => value !== undefined))
    }
  }
}

function errorFields(error: object): object {
  const { length: _length, ...fields } = { ...error, message: (error as Error).message } as Record<string, unknown>
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

test('each message has the content that pg-protocol reads, however the network divides them', () => {
  const bytes = Buffer.concat(session)
  const expected: object[] = []
  new Parser().parse(bytes, (theirs) => expected.push(asOurs(theirs as unknown as Theirs)))
  assert.equal(expected.length, session.length)
  for (const size of [1, 2, 3, 4, 5, 6, 7, 64, 100, bytes.length - 1, bytes.length]) {
    const messages = new ServerMessages()
    const read: object[] = []
    for (let at = 0; at < bytes.length; at += size)
      messages.read(bytes.subarray(at, at + size), (ours) => read.push(ours.name === 'error' ? errorFields(ours) : ours))
    assert.deepEqual(
      read.map((ours) => ('mechanisms' in ours ? { ...ours, mechanisms: (ours.mechanisms as string[]).filter(Boolean) } : ours)),
      expected,
      `${size} bytes at a time`,
    )
  }
})

test('what is not a message of the protocol is an error', () => {
  for (const [bytes, reason] of [
    [message('?'), /received invalid response: 3f/],
    [message('R', 99), /Unknown authenticationOk message type 99/],
  ] as const)
    assert.throws(() => new ServerMessages().read(bytes, () => undefined), reason)
})

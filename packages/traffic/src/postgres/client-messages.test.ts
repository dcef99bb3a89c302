import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serialize } from 'pg-protocol/dist/serializer.js'
import { ClientMessages } from './client-messages.ts'
import { encodeValue } from './encode-value.ts'

const messages = () => new ClientMessages()

test('each message has the bytes that pg-protocol writes', () => {
  const data = Buffer.from([0, 1, 255])
  const pairs: [ClientMessages, Buffer][] = [
    [messages().startup({ user: 'ü', database: 'd' }), serialize.startup({ user: 'ü', database: 'd' })],
    [messages().requestTls(), serialize.requestSsl()],
    [messages().password('pässword'), serialize.password('pässword')],
    [messages().sasl('SCRAM-SHA-256', 'n,,ü'), serialize.sendSASLInitialResponseMessage('SCRAM-SHA-256', 'n,,ü')],
    [messages().saslResponse('c=biws'), serialize.sendSCRAMClientFinalMessage('c=biws')],
    [messages().query("select '€'"), serialize.query("select '€'")],
    [messages().parse('n', 'select $1'), serialize.parse({ name: 'n', text: 'select $1', types: [] })],
    [messages().describe(), serialize.describe({ type: 'P' })],
    [messages().execute(), serialize.execute()],
    [messages().close('n'), serialize.close({ type: 'S', name: 'n' })],
    [messages().sync(), serialize.sync()],
    [messages().copyData(data), serialize.copyData(data)],
    [messages().copyDone(), serialize.copyDone()],
    [messages().copyFail('no'), serialize.copyFail('no')],
    [messages().terminate(), serialize.end()],
  ]
  for (const [ours, theirs] of pairs) assert.deepEqual(ours.bytes, theirs)
})

test('parameters have the bytes that pg-protocol writes, whatever they are and however many', () => {
  const all = [
    [],
    [null, undefined, '', 'a\0b', 'ü€😀', '\ud800', 1, true, 12n, new Date(0), { a: 1 }],
    [Buffer.from([0, 255]), Buffer.alloc(0), new Uint8Array([7]), ['a', null, [Buffer.from('b')]]],
    ['x'.repeat(511), '€'.repeat(100_000), Buffer.alloc(70_000, 1)],
    Array.from({ length: 65_535 }, (_, i) => i),
  ]
  for (const values of all)
    assert.deepEqual(messages().bind('s', values).bytes, serialize.bind({ statement: 's', values, valueMapper: encodeValue }))
})

test('several messages are one buffer', () => {
  const parts = [serialize.parse({ text: 'select 1' }), serialize.bind(), serialize.execute(), serialize.sync()]
  assert.deepEqual(messages().parse('', 'select 1').bind('', []).execute().sync().bytes, Buffer.concat(parts))
})

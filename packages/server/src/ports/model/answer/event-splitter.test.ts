import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usedBytes } from '#testing/used-bytes.ts'
import { EventSplitter } from './event-splitter.ts'

const streams: [string, string, string[]][] = [
  ['plain', 'data: {"a":1}\n\ndata: [DONE]\n\n', ['{"a":1}', '[DONE]']],
  ['CRLF', 'event: x\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n', ['1', '2']],
  ['CR alone', 'data: 1\rid: 7\r\rdata: 2\r\r', ['1', '2']],
  ['mixed line ends', 'data: 1\n\r\ndata: 2\r\n\ndata: 3\n\n', ['1', '2', '3']],
  ['a byte order mark', '\uFEFFdata: 1\n\n', ['1']],
  ['comments and other fields', ': ping\nretry: 5\nid: 1\nevent: message\nfoo: bar\ndata: 1\n\n:\n\n', ['1']],
  ['no space, two spaces', 'data:1\n\ndata:  2\n\n', ['1', ' 2']],
  ['fields that only look alike', 'datax: 1\ndat: 2\n data: 3\ndata: 4\n\n', ['4']],
  ['umlauts and emoji', 'data: "ä🌊"\n\n', ['"ä🌊"']],
  ['an end without its empty line', 'data: 1\n\ndata: 2\n', ['1']],
]

function split(bytes: Buffer, cuts: number[]): string[] {
  const splitter = new EventSplitter(1_000)
  const ends = [...cuts, bytes.length]
  return ends.flatMap((end, i) => [...splitter.take(bytes.subarray(ends[i - 1] ?? 0, end))].map(String))
}

for (const [name, text, expected] of streams) {
  test(`the events are those of the standard, however the stream is cut: ${name}`, () => {
    const bytes = Buffer.from(text)
    assert.deepEqual(split(bytes, []), expected)
    assert.deepEqual(split(bytes, [...bytes.keys()].slice(1)), expected, 'byte by byte')
    for (let at = 1; at < bytes.length; at++) assert.deepEqual(split(bytes, [at]), expected, `cut at ${at}`)
  })
}

test('lines of one event are joined by a space, which is nothing to JSON', () => {
  assert.deepEqual(split(Buffer.from('data: {"a":\ndata: 1}\n\n'), []), ['{"a": 1}'])
  assert.deepEqual(split(Buffer.from('data\n\n'), []), [''])
})

test('no more than one event is kept, whether it comes as one line, as many, or as empty ones', () => {
  for (const text of ['a'.repeat(2_000), 'data: 1234\n'.repeat(200), 'data:\n'.repeat(2_000)]) {
    assert.throws(() => split(Buffer.from(text), []), { name: 'EgressError', reason: 'protocol' })
    assert.throws(() => split(Buffer.from(text), [...Buffer.from(text).keys()].slice(1)), { reason: 'protocol' })
  }
  assert.deepEqual(split(Buffer.from('data: 1234\n\n'.repeat(300)), []).length, 300)
})

const large: [string, Buffer[], number][] = [
  ['in pieces of one byte', Array.from(Buffer.from('data: '.padEnd(500_000, 'x')), (byte) => Buffer.of(byte)), 499_994],
  ['in lines of no byte', [Buffer.from('data\n'.repeat(500_000))], 499_999],
]

for (const [name, pieces, length] of large) {
  test(`an event takes little more memory than its bytes: ${name}`, () => {
    const splitter = new EventSplitter(512 * 1024)
    const before = usedBytes()
    for (const piece of pieces) assert.equal(splitter.take(Buffer.from(piece)).next().done, true)
    const bytes = usedBytes() - before
    assert.ok(bytes < 20_000_000, `${bytes} bytes`)
    const [event] = splitter.take(Buffer.from('\n\n'))
    assert.equal(event!.length, length)
  })
}

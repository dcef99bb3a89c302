import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DamagedLine } from './damaged-line.ts'
import * as node from './node-lines.ts'
import { deriveRoomKey as deriveNodeRoomKey } from './room-key.ts'
import { sealAll, secret } from './testing/room.ts'
import { checkChain, lineHash, openLine, sealLine } from './web-lines.ts'
import { deriveRoomKey } from './web-room-key.ts'
import { WrongKey } from './wrong-key.ts'

const key = await deriveRoomKey(secret)
const nodeKey = deriveNodeRoomKey(secret)

test('Node opens what the Web seals, and the Web what Node seals', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), fc.nat(), async (bytes, n) => {
      const position = n === 0 ? { seq: 0 } : { seq: n, prev: node.lineHash('x') }
      const payload = Uint8Array.from(bytes)
      const fromWeb = node.openLine({ key: nodeKey, line: await sealLine({ key, ...position, payload }) })
      assert.deepEqual({ ...fromWeb, payload: Uint8Array.from(fromWeb.payload) }, { ...position, payload })
      const fromNode = await openLine({ key, line: node.sealLine({ key: nodeKey, ...position, payload }) })
      assert.deepEqual(fromNode, { ...position, payload })
    }),
    { numRuns: 200 },
  )
})

test('text is sealed as UTF-8, with a fresh key and iv each time', async () => {
  const lines = await Promise.all(['☀️ è', '☀️ è'].map((payload) => sealLine({ key, seq: 0, payload })))
  for (const line of lines) assert.equal(node.openLine({ key: nodeKey, line }).payload.toString(), '☀️ è')
  const [a, b] = lines.map((line) => JSON.parse(line) as { iv: string; recipients: unknown })
  assert.notEqual(a?.iv, b?.iv)
  assert.notDeepEqual(a?.recipients, b?.recipients)
})

test('under any other room key a line is WrongKey', async () => {
  const line = await sealLine({ key, seq: 0, payload: 'x' })
  await assert.rejects(openLine({ key: await deriveRoomKey({ ...secret, room: 'other' }), line }), WrongKey)
})

test('every byte of a line is guarded, with the same error as in Node', async () => {
  const bytes = Buffer.from(sealAll(nodeKey, ['a', 'b'])[1]!)
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes)
    flipped[at]! ^= 1 << (at % 7)
    const line = flipped.toString('latin1')
    const caught = await openLine({ key, line }).catch((error: unknown) => error)
    assert.ok(caught instanceof DamagedLine || caught instanceof WrongKey, `byte ${at}: ${String(caught)}`)
    assert.throws(() => node.openLine({ key: nodeKey, line }), { name: caught.name })
  }
})

test('hash and chain are those of Node', async () => {
  const lines = sealAll(nodeKey, ['a', 'b', 'c'])
  const etag = node.lineHash(lines[2]!)
  assert.equal(await lineHash(lines[2]!), etag)
  assert.equal(await checkChain(lines, { fromSeq: 0, etag }), undefined)
  assert.deepEqual(await checkChain(lines.toReversed(), { fromSeq: 0, etag }), { seq: 0, problem: 'seq' })
})

test('a position that cannot be is not sealed', async () => {
  await assert.rejects(sealLine({ key, seq: 1, payload: 'x' }), TypeError)
})

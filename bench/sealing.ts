// Measures how fast one thread seals and opens the lines of a room: node bench/sealing.ts
import { hrtime } from 'node:process'
import { checkChain, lineHash, openLine, sealLine } from '../packages/sealing/src/node-lines.ts'
import { formatRecord, parseRecord } from '../packages/sealing/src/records.ts'
import { deriveRoomKey } from '../packages/sealing/src/room-key.ts'
import * as web from '../packages/sealing/src/web-lines.ts'
import { deriveRoomKey as deriveWebRoomKey } from '../packages/sealing/src/web-room-key.ts'
import { median } from './goals.ts'

const secret = { room: 'lantern-night', mk: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA' }
const key = deriveRoomKey(secret)
const payload = formatRecord({
  t: 'turn',
  id: '4fRzK0vXcB1mQwErTy7uPa',
  at: '2026-11-20T09:30:00.000Z',
  author: { kind: 'account', email: 'ada@example.com', name: 'Ada' },
  message: { text: 'The lamps are lit, and the boats are in.', client_id: 'c-000001' },
})
const lines: string[] = []
let prev: string | undefined
for (let seq = 0; seq < 500; seq++) {
  const line = sealLine({ key, seq, prev, payload })
  lines.push(line)
  prev = lineHash(line)
}

/**
 * The median of 40 rounds after 10 warm-up rounds. Lines per second use elapsed time, and the cost of a line uses
 * processor time.
 */
async function measure(what: string, count: number, round: () => unknown): Promise<void> {
  const elapsedUs: number[] = []
  const cpuUs: number[] = []
  for (let i = 0; i < 50; i++) {
    const startedAt = hrtime.bigint()
    const before = process.cpuUsage()
    await round()
    const { user, system } = process.cpuUsage(before)
    if (i < 10) continue
    elapsedUs.push(Number(hrtime.bigint() - startedAt) / 1000)
    cpuUs.push(user + system)
  }
  const elapsed = median(elapsedUs)
  const perSecond = Math.round((count / elapsed) * 1e6).toLocaleString('en')
  console.log(`${what.padEnd(42)}${perSecond.padStart(10)}/s   CPU ${(median(cpuUs) / 1000).toFixed(1)} ms for ${count}`)
}

console.log(`Payload ${payload.length} bytes, line ${lines[1]?.length} bytes, Node ${process.version}`)
await measure('seal', 500, () => lines.map((_, seq) => sealLine({ key, seq, prev: seq ? prev : undefined, payload })))
await measure('seal and hash, a growing chain', 500, () => {
  let last: string | undefined
  for (let seq = 0; seq < 500; seq++) last = lineHash(sealLine({ key, seq, prev: last, payload }))
})
await measure('open', 500, () => lines.map((line) => openLine({ key, line })))
await measure('open and read the record', 500, () => lines.map((line) => parseRecord(openLine({ key, line }).payload)))
await measure('check the chain', 500, () => checkChain(lines, { fromSeq: 0, etag: prev }))
await measure('derive the room key', 500, () => lines.forEach(() => deriveRoomKey(secret)))
const webKey = await deriveWebRoomKey(secret)
await measure('Web Crypto in Node: seal', 500, () =>
  Promise.all(lines.map((_, seq) => web.sealLine({ key: webKey, seq, prev: seq ? prev : undefined, payload }))),
)
await measure('Web Crypto in Node: open', 500, () => Promise.all(lines.map((line) => web.openLine({ key: webKey, line }))))

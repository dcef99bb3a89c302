import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { checkChain, lineHash, openLine } from '../../packages/sealing/src/node-lines.ts'
import { parseRecord } from '../../packages/sealing/src/records.ts'
import { deriveRoomKey } from '../../packages/sealing/src/room-key.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { childPids } from '../support/worker-pids.ts'

const writers = 64
const turnsEach = 40
const kills = 3

let database: TestDatabase
let atrium: AtriumProcess
before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, space: true })
  await untilSpaceAnswers()
})
after(async () => {
  await atrium.end()
  await database.drop()
})

test('the Space service is killed among 64 writers: no accepted turn is lost or doubled, and the chain holds', async () => {
  const rooms = Array.from({ length: 4 }, () => ({
    room: `r${randomBytes(8).toString('hex')}`,
    mk: randomBytes(32).toString('base64url'),
  }))
  const accepted = new Map<string, number>()
  let refused = 0
  const write = async (writer: number) => {
    const secret = rooms[writer % rooms.length]!
    for (let n = 0; n < turnsEach; n++) {
      const text = `${writer}.${n}`
      for (;;) {
        const answer = await call({ op: 'turn', ...secret, message: { text, client_id: text } })
        if (answer?.status === 200) {
          accepted.set(text, answer.body.seq)
          break
        }
        refused++
        await delay(50)
      }
    }
  }
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  for (let i = 0; i < kills; i++) {
    await delay(400)
    process.kill(spacePid(), 'SIGKILL')
    await untilSpaceAnswers()
  }
  await writing
  assert.ok(refused > 0, 'the kills were felt')
  assert.equal(accepted.size, writers * turnsEach)

  for (const secret of rooms) {
    const { body } = (await call({ op: 'sealed', room: secret.room }))!
    const lines: string[] = body.sealed.split('\n')
    const { rows } = await headOf(secret.room)
    assert.equal(checkChain(lines, { fromSeq: 0, etag: lineHash(lines.at(-1)!) }), undefined)
    assert.deepEqual(rows, [{ count: lines.length, etag: lineHash(lines.at(-1)!) }])
    const key = deriveRoomKey(secret)
    const stored = lines.map((line) => parseRecord(openLine({ key, line }).payload))
    const texts = stored.flatMap((record, seq) => (record.t === 'turn' ? [[record.message.text, seq] as const] : []))
    assert.equal(new Set(texts.map(([text]) => text)).size, texts.length, 'none twice')
    for (const [text, seq] of texts) assert.equal(accepted.get(text), seq, text)
  }
})

async function headOf(room: string) {
  const { Client } = await import('pg')
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    return await client.query('select count, etag from rooms where room = $1', [room])
  } finally {
    await client.end()
  }
}

async function call(request: object): Promise<{ status: number; body: any } | undefined> {
  try {
    const res = await fetch(`${atrium.spacesOrigin}/space`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    return { status: res.status, body: await res.json() }
  } catch {
    return undefined
  }
}

/** The process of the bundle, a child of the started one. */
function spacePid(): number {
  return childPids(atrium.pid, 'space.mjs')[0]!
}

async function untilSpaceAnswers(): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await call({ op: 'attest' }))) {
    assert.ok(Date.now() < deadline, 'the Space service did not come back')
    await delay(50)
  }
}

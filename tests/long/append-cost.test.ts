import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { policyRecord, turnRecord } from '../../packages/room-client/src/line-reader.ts'
import { deriveClientKeys, sealClientLine, signRequest } from '../../packages/sealing/src/client-sealed.ts'
import { startTestSpace, type TestSpace } from '../../packages/space/src/testing/test-space.ts'

const audience = 'https://rooms.example'
const rooms = 16
const requests = 1_000
const rounds = 5
const kept = 2_000

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/** Several times: the keys of the clients, which are in this process too, have memory that a finalizer frees. */
async function collect(): Promise<void> {
  for (let i = 0; i < 4; i++) {
    gc()
    await new Promise(setImmediate)
  }
}

test(
  'an append costs about what a turn costs, and a client-sealed room needs no more memory',
  { timeout: 280_000 },
  async (t) => {
    const space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
    try {
      const classic = await makeClassic(space, rooms)
      const sealed = await makeSealed(space, rooms)
      const rates = { turn: [] as number[], append: [] as number[] }
      for (let i = -1; i < rounds; i++) {
        const turns = Array.from({ length: requests }, (_, n) => ({
          ...classic[n % rooms]!,
          op: 'turn',
          message: { text: 'The lamps are lit.' },
        }))
        const appends = await Promise.all(Array.from({ length: requests }, (_, n) => appendTo(sealed[n % rooms]!)))
        const [turn, append] = [await rate(space, turns), await rate(space, appends)]
        // The first round warms up.
        if (i < 0) continue
        rates.turn.push(turn)
        rates.append.push(append)
      }
      const ratios = rates.turn.map((turn, i) => rates.append[i]! / turn)
      t.diagnostic(
        `turns ${Math.round(median(rates.turn))}/s, appends ${Math.round(median(rates.append))}/s, ratio ${median(ratios).toFixed(2)}`,
      )
      const heap = async (make: () => Promise<unknown>) => {
        await collect()
        const before = process.memoryUsage().heapUsed
        await make()
        await collect()
        return (process.memoryUsage().heapUsed - before) / kept
      }
      const bytes = { classic: [] as number[], sealed: [] as number[] }
      for (let i = 0; i < 3; i++) {
        bytes.classic.push(await heap(() => makeClassic(space, kept).then(() => undefined)))
        bytes.sealed.push(await heap(() => makeSealed(space, kept).then(() => undefined)))
      }
      t.diagnostic(
        `bytes of heap for each room: classic ${bytes.classic.map(Math.round)}, client-sealed ${bytes.sealed.map(Math.round)}`,
      )
      // The clients share the process here, so it scatters: bench/append.ts measures with processes of their own.
      assert.ok(median(ratios) >= 0.7, `${ratios}`)
      assert.ok(median(bytes.sealed) <= median(bytes.classic) + 200, `${bytes.sealed}`)
    } finally {
      await space.close()
    }
  },
)

async function makeClassic(space: TestSpace, count: number) {
  const made = Array.from({ length: count }, () => ({ room: name(), mk: randomBytes(32).toString('base64url') }))
  await rate(
    space,
    made.map((secret) => ({ ...secret, op: 'turn', message: { text: 'The lamps are lit.' } })),
  )
  return made
}

async function makeSealed(space: TestSpace, count: number) {
  const made = await Promise.all(
    Array.from({ length: count }, () => deriveClientKeys({ room: name(), mk: randomBytes(32).toString('base64url') })),
  )
  const bodies = await Promise.all(
    made.map(async (keys) =>
      signed(keys, {
        op: 'make',
        room: keys.room,
        access: keys.access,
        line: await sealClientLine(keys, { content: policyRecord }),
      }),
    ),
  )
  await rate(space, bodies)
  return made
}

type Keys = Awaited<ReturnType<typeof deriveClientKeys>>

async function appendTo(keys: Keys): Promise<object> {
  const content = turnRecord({ id: name(), text: 'The lamps are lit.' })
  const line = await sealClientLine(keys, { seen: { seq: 0, hash: 'A'.repeat(43) }, content })
  return signed(keys, { op: 'append', room: keys.room, line, dedupe: randomBytes(16).toString('base64url') })
}

async function signed(
  keys: Keys,
  request: Parameters<typeof signRequest>[1] & { access?: string; line: string; dedupe?: string },
): Promise<object> {
  return { ...request, signature: await signRequest(keys, request, { audience }) }
}

/** Requests a second, 32 at a time. */
async function rate(space: TestSpace, bodies: readonly object[]): Promise<number> {
  const left = bodies.map((body) => JSON.stringify(body))
  const start = performance.now()
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      for (let body = left.pop(); body !== undefined; body = left.pop()) {
        const res = await fetch(`${space.origin}/space`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
        assert.equal(res.status, 200, await res.text())
      }
    }),
  )
  return (bodies.length / (performance.now() - start)) * 1000
}

function name(): string {
  return `r${randomBytes(8).toString('hex')}`
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { makeEntries } from '@atrium/log/testing/stored-log'
import { hashLeaf } from '@atrium/log/merkle'
import { send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'
import { logEpochs } from '../credits/epochs/log-epochs.ts'
import { integrateLeaves } from './integrate.ts'
import { publishCheckpoint } from './publish.ts'
import { queueLeaves } from './store.ts'

const allowedMs = 5
const rounds = 60
/** More than what calls cause within the two seconds between appends. */
const leaves = 8

test('appending to the log delays no caller by more than 5 ms, also in the same process', async (t) => {
  const api = await startTestApi({ publicUrl: 'https://atrium.example.com' })
  try {
    const { secretKey: key } = await api.makeTenant()
    const { ctx } = api
    let from = 0
    const append = async () => {
      await queueLeaves(
        ctx.db,
        makeEntries(leaves, from).map((entry) => ({ leafHash: hashLeaf(entry), entry })),
      )
      from += leaves
      await logEpochs(ctx, 100)
      assert.ok((await integrateLeaves(ctx.db, leaves)) > 0)
      await publishCheckpoint(ctx)
    }
    // Publishing an epoch causes an entry, so its caller is the one that might wait.
    const publicKey = () => generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ format: 'jwk' })
    const call = async () => {
      const body = { public_key: publicKey(), value: 5 }
      const began = performance.now()
      assert.equal((await send(api, 'POST', '/epochs', { key, body })).status, 201)
      return performance.now() - began
    }
    await append()
    await call()
    const alone: number[] = []
    const beside: number[] = []
    // In turn, so that a busy machine delays both.
    for (let round = 0; round < rounds; round++) {
      alone.push(await call())
      const appending = append()
      beside.push(await call())
      await appending
    }
    const delayMs = median(beside) - median(alone)
    t.diagnostic(`${median(alone).toFixed(1)} ms alone, ${median(beside).toFixed(1)} ms beside an append of ${leaves} leaves`)
    assert.ok(delayMs <= allowedMs, `delayed by ${delayMs.toFixed(1)} ms`)
  } finally {
    await api.close()
  }
})

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

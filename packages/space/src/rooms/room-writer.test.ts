import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Overloaded } from '@atrium/traffic/overloaded'
import type { RoomHead } from './head.ts'
import { RoomWriter } from './room-writer.ts'
import type { WakingDb } from './store.ts'

const head: RoomHead = {
  room: 'quay',
  count: 1,
  etag: 'e',
  bytes: 10,
  policySeq: 0,
  policyHash: 'p',
  policyLine: 'l',
  accessKey: undefined,
}

const row = { ...head, policy_seq: head.policySeq, policy_hash: head.policyHash, policy_line: head.policyLine, access_key: null }

test('a line to a room that stays locked is rejected in time, also if each attempt takes longer than a check', async () => {
  // Ends the test where nothing else does.
  let isFree = false
  const db = {
    query: async ({ name }: { name: string }) => {
      if (name !== 'rooms-append') return { rows: [row] }
      await delay(250)
      return { rows: [{ room: head.room, outcome: isFree ? 'moved' : 'locked' }] }
    },
    wake: () => undefined,
  } as unknown as WakingDb
  const writer = new RoomWriter(db)
  const append = { head, seal: () => 'line', isPolicy: false, dedupe: undefined }
  const rejected = assert.rejects(writer.append(append), Overloaded)
  await Promise.race([rejected, delay(6_000, undefined, { ref: false }).then(() => (isFree = true))])
  assert.equal(isFree, false)
  assert.equal(writer.waitingCount, 0)
})

test('a line that was answered is not written by another attempt of its batch, because its caller sends it again', async () => {
  const written: unknown[] = []
  let attempts = 0
  const db = {
    query: async ({ name, values }: { name: string; values: unknown[] }) => {
      if (name !== 'rooms-append') return { rows: [attempts === 0 ? row : { ...row, policy_hash: 'newer' }] }
      if (attempts++ === 0) throw Object.assign(new Error('lock timeout'), { code: '55P03' })
      written.push(...(values[10] as unknown[]))
      return { rows: [{ room: head.room, outcome: 'moved' }] }
    },
    wake: () => undefined,
  } as unknown as WakingDb
  const writer = new RoomWriter(db)
  const append = (policyHash: string) =>
    writer.append({ head: { ...head, policyHash }, seal: () => `by ${policyHash}`, isPolicy: false, dedupe: undefined })
  const [newer, current] = await Promise.all([append('newer'), append('p')])
  assert.deepEqual([newer.kind, current.kind], ['policy_changed', 'policy_changed'])
  assert.deepEqual(written, [])
})

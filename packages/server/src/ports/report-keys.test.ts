import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReportSigner, startReportKeyServer } from '#testing/report-signer.ts'
import { openTestEgress } from '#testing/open-test-egress.ts'
import { FetchedReportKeys } from './report-keys.ts'

const minuteMs = 60_000

async function setUp(t: Parameters<typeof openTestEgress>[0], ...signers: ReportSigner[]) {
  const server = await startReportKeyServer(...signers)
  t.after(() => server.close())
  const state = { nowMs: 0, errors: 0 }
  const keys = new FetchedReportKeys({
    url: server.url,
    send: openTestEgress(t, { mode: 'loopback' }).send,
    onError: () => void state.errors++,
    now: () => state.nowMs,
  })
  return { server, state, keys }
}

const unavailable = { code: 'unavailable', retryAfterSeconds: 30 }

test('keys are fetched once for many callers, and kept for an hour', async (t) => {
  const signer = new ReportSigner()
  const { server, state, keys } = await setUp(t, signer)
  const found = await Promise.all(Array.from({ length: 20 }, () => keys.find(signer.identifier)))
  assert.ok(found.every((key) => key?.asymmetricKeyDetails?.namedCurve === 'prime256v1'))
  assert.equal(server.asked, 1)
  state.nowMs = 59 * minuteMs
  await keys.find(signer.identifier)
  assert.equal(server.asked, 1)
  server.signers = [new ReportSigner()]
  state.nowMs = 60 * minuteMs
  assert.equal(await keys.find(signer.identifier), undefined, 'a key that was withdrawn is gone')
})

test('a new key is found, and made-up identifiers fetch at most once in two minutes', async (t) => {
  const [old, fresh] = [new ReportSigner(), new ReportSigner()]
  const { server, state, keys } = await setUp(t, old)
  await keys.find(old.identifier)
  server.signers = [fresh, old]
  for (let i = 0; i < 50; i++) assert.equal(await keys.find(`made-up-${i}`), undefined)
  assert.equal(server.asked, 1)
  state.nowMs = 2 * minuteMs
  assert.ok(await keys.find(fresh.identifier))
  assert.equal(server.asked, 2)
})

test('while the address fails, known keys serve for a day, others are unavailable, and it is asked twice a minute', async (t) => {
  const signer = new ReportSigner()
  const { server, state, keys } = await setUp(t, signer)
  await keys.find(signer.identifier)
  server.mode = 'fails'
  state.nowMs = 90 * minuteMs
  assert.ok(await keys.find(signer.identifier))
  await assert.rejects(keys.find('unknown'), unavailable)
  state.nowMs += 29_000
  await assert.rejects(keys.find('unknown'), unavailable)
  assert.deepEqual([server.asked, state.errors], [2, 1])
  state.nowMs = 25 * 60 * minuteMs
  await assert.rejects(keys.find(signer.identifier), unavailable)
  server.mode = 'answers'
  state.nowMs += 30_000
  assert.ok(await keys.find(signer.identifier))
})

test('an empty list does not withdraw the keys', async (t) => {
  const signer = new ReportSigner()
  const { server, state, keys } = await setUp(t, signer)
  await keys.find(signer.identifier)
  server.signers = []
  state.nowMs = 61 * minuteMs
  assert.ok(await keys.find(signer.identifier))
  assert.equal(state.errors, 1)
})

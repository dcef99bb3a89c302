import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { serveTestProvider, type ServedProvider } from '@atrium/identity/testing/serve-provider'
import fc from 'fast-check'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { adminToken, type AtriumProcess } from './support/atrium-process.ts'
import { call, callUntilServed, makeTenant, NoAnswer, type Answer } from './support/call-api.ts'
import { plans } from './support/fuzz-plans.ts'
import { makeStock } from './support/fuzz-stock.ts'
import { FuzzWorld, type Kept, type Sent } from './support/fuzz-world.ts'
import { mapConcurrently } from './support/map-concurrently.ts'
import { startForShelves } from './support/matrix-world.ts'
import { fetchOperations } from './support/openapi-operations.ts'
import { dot, sendFile, uploadFile } from './support/upload-file.ts'

// tests/long/fuzz.test.ts sends 20,000.
const requests = Number(process.env['ATRIUM_FUZZ_REQUESTS'] ?? 8_000)
const seed = Number(process.env['ATRIUM_FUZZ_SEED'] ?? Date.now() % 2 ** 31)
const atOnce = 32
/** Plans are made in portions, so that any number of requests fits into memory. */
const portion = 1_000
const shownFailures = 5

let database: TestDatabase
let provider: ServedProvider
let atrium: AtriumProcess
before(async () => {
  ;[database, provider] = await Promise.all([createTestDatabase(), serveTestProvider()])
  const env = { OIDC_ISSUER: provider.provider.issuer, OIDC_CLIENT_ID: 'atrium' }
  atrium = await startForShelves(database.url, env)
  await spaceReady()
})
after(async () => {
  await atrium.end()
  provider.close()
  await database.drop()
})

function shown({ plan, route, headers }: Sent, answer: Answer | NoAnswer): string {
  const came = answer instanceof NoAnswer ? answer.message : `${answer.status} ${answer.text.slice(0, 300)}`
  return `${route}\n  ${JSON.stringify(headers)}\n  ${plan.body?.slice(0, 500)}\n  → ${came}`
}

/** The API is ready before the Space service, which starts in parallel. */
async function spaceReady(timeoutMs = 20_000): Promise<void> {
  const attest = () => call(atrium.origin, 'POST /v1/space', { body: { op: 'attest' } })
  for (const deadline = Date.now() + timeoutMs; (await attest()).status !== 200; await delay(50)) {
    assert.ok(Date.now() < deadline, 'the Space service never came up')
  }
}

/** Nobody could upload what is announced at random, so these are pictures. Every other one is not completed yet. */
async function fillCollection(world: FuzzWorld, { collection }: Sent): Promise<void> {
  if (!collection) return
  const { id, owner: token, tenant } = collection
  const place = { origin: atrium.origin, key: tenant.secret, collection: id, token }
  const ready = world.parts.length % 2 === 0
  const filled = await (ready ? uploadFile(place, 'image/png', dot) : sendFile(place, 'image/png', dot)).catch(() => undefined)
  // Deleted meanwhile, perhaps.
  if (filled && !collection.gone) world.learnPart('artifact', filled.id, collection)
}

/** What the server said about them. */
function faultsLogged(): string {
  return atrium
    .output()
    .split('\n')
    .filter((line) => /request failed|cannot be reached/.test(line))
    .slice(0, shownFailures)
    .join('\n')
}

function faultOf(sent: Sent, answer: Answer): string | undefined {
  const fault = sent.plan.op.faultIn(answer)
  if (fault) return fault
  const replayed = answer.headers['idempotency-status'] === 'replayed'
  return sent.ofGone && answer.status < 400 && !replayed ? 'it was deleted before' : undefined
}

test(`${requests} generated requests find no fault`, { timeout: 200_000 + requests * 10 }, async (t) => {
  t.diagnostic(`seed ${seed}: ATRIUM_FUZZ_SEED=${seed} makes the same requests again`)
  const { origin } = atrium
  const operations = await fetchOperations(origin)
  const tenants = await Promise.all([makeTenant(origin, 'One'), makeTenant(origin, 'Two')])
  const world = new FuzzWorld(origin, tenants, await makeStock(origin, tenants))
  const arbitrary = plans(operations)
  const failures: string[] = []
  const statuses = new Map<string, number>()
  const wentWell = new Set<string>()
  for (let made = 0; made < requests && failures.length < shownFailures; made += portion) {
    const batch = fc.sample(arbitrary, { seed: seed + made, numRuns: Math.min(portion, requests - made) })
    await mapConcurrently(batch, atOnce, async (plan) => {
      const sent = world.resolve(plan, adminToken)
      const { body } = sent.plan
      const asked = callUntilServed(origin, sent.route, { headers: sent.headers, ...(body === undefined ? {} : { body }) })
      const answer = await asked.catch((error: unknown) => {
        if (error instanceof NoAnswer) return error
        throw error
      })
      if (answer instanceof NoAnswer) {
        // Another request deleted the collection or tenant, or replaced a token, in the meantime, so the export was cut.
        if (plan.op.id.startsWith('export') && answer.code === 'ECONNRESET') return
        return void failures.push(`no answer: ${shown(sent, answer)}`)
      }
      const status = `${Math.floor(answer.status / 100)}xx`
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (answer.status < 300) wentWell.add(plan.op.id)
      const fault = faultOf(sent, answer)
      if (fault) failures.push(`${fault}: ${shown(sent, answer)}`)
      world.learn(sent, answer)
      if (plan.op.id === 'uploadArtifact' && answer.status === 201) await fillCollection(world, sent)
    })
  }
  t.diagnostic(
    `${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}; ${world.collections.length} collections made`,
  )
  assert.ok(
    failures.length === 0,
    `seed ${seed}, ${failures.length} failures:\n${failures.slice(0, shownFailures).join('\n')}\n${faultsLogged()}`,
  )
  if (requests >= 20_000) {
    assert.deepEqual(
      operations.filter(({ id }) => !wentWell.has(id)).map(({ id }) => id),
      [],
      'every operation also went well',
    )
  }
  await assertAllIsAsItWasLeft(world)
  const audit = await call(origin, 'GET /v1/operator/audit', { operator: true })
  assert.deepEqual(audit.data.findings, [], `seed ${seed}: the books are sound`)
})

const around = (text: string, found: string) => text.slice(Math.max(0, text.indexOf(found) - 300), text.indexOf(found) + 300)

/** Deleted things cannot be read in any way, and all others can. */
async function assertAllIsAsItWasLeft(world: FuzzWorld): Promise<void> {
  const { origin } = atrium
  const wrong: string[] = []
  const expectStatus = async (route: string, { tenant, owner }: Kept, expected: number) => {
    const answer = await call(origin, route, { key: tenant.secret, token: owner })
    if (answer.status !== expected) wrong.push(`${route}: ${answer.status} ${answer.text.slice(0, 200)} instead of ${expected}`)
    return answer
  }
  await mapConcurrently(world.collections, atOnce, async (collection) => {
    const path = `GET /v1/collections/${collection.id}`
    // Concurrent requests replaced tokens, so only a new token is known to be the last.
    const body = { rotate: ['admin_token'] }
    const rotated = await call(origin, `POST /v1/collections/${collection.id}/tokens`, { key: collection.tenant.secret, body })
    if (rotated.status === 201) collection.owner = rotated.data.admin_token
    const status = collection.gone ? 404 : 200
    for (const view of ['', '/items?limit=200', '/artifacts?limit=200', '/render']) {
      const answer = await expectStatus(`${path}${view}`, collection, status)
      // What failed because of a picture that has been deleted since may still name it.
      const text = answer.text.replaceAll(/"message":"[^"]*"/g, '')
      for (const part of collection.parts)
        if (part.gone && text.includes(part.id)) wrong.push(`${path}${view} still shows ${part.id}: ${around(text, part.id)}`)
    }
    for (const { kind, id, gone } of collection.parts)
      await expectStatus(`${path}/${kind}s/${id}`, collection, gone ? 404 : status)
  })
  assert.ok(world.collections.some(({ gone }) => gone) && world.parts.some(({ gone }) => gone), 'something was deleted')
  assert.deepEqual(wrong.slice(0, shownFailures), [], `seed ${seed}: ${wrong.length} things are not as they were left`)
}

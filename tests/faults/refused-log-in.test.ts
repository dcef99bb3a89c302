import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { expiredCertificate, validCertificate } from '../../packages/server/testing/loopback-certificates.ts'
import { createTestDatabase, urlOfDatabase } from '../../packages/server/testing/test-database.ts'
import { startThrowawayPostgres } from '../../packages/server/testing/throwaway-postgres.ts'
import { urlOfProxy } from '../../packages/traffic/src/postgres/testing/fake-server.ts'
import { startTls } from '../../packages/traffic/src/postgres/testing/start-tls.ts'
import { freePort, startAtrium } from '../support/atrium-process.ts'
import { call, makeCollection, makeTenant } from '../support/call-api.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium } from '../support/run-atrium.ts'

/** Asks for an item, a read and a turn, each answered from the database. */
async function startAsking(t: TestContext, databaseUrl: string, env: Record<string, string> = {}) {
  const atrium = await startAtrium({ databaseUrl, space: true, env })
  t.after(() => atrium.end('SIGKILL'))
  const { origin } = atrium
  const { publishable: key } = await makeTenant(origin)
  const { id } = await makeCollection(origin, key)
  const body = { type: 'message', content: { text: 'Hello' } }
  const item = () => call(origin, `POST /v1/collections/${id}/items`, { key, idempotencyKey: randomUUID(), body })
  const read = () => call(origin, `GET /v1/collections/${id}`, { key })
  const room = { room: `quay-${randomUUID()}`, mk: randomBytes(32).toString('base64url') }
  const turn = () => {
    const message = { text: 'Hello', client_id: randomUUID() }
    return call(origin, 'POST /v1/space', { body: { op: 'turn', ...room, message } })
  }
  const askAll = () => Promise.all([item(), read(), turn()])
  for (const { status, text } of await askAll()) assert.ok(status < 300, text)
  return {
    assertOutage: async () => {
      for (let round = 0; round < 10; round++) for (const { status, text } of await askAll()) assert.equal(status, 503, text)
      assert.equal((await call(origin, 'GET /readyz')).status, 503)
    },
    output: atrium.output,
    untilServed: async () => {
      for (const deadline = Date.now() + 20_000; (await askAll()).some(({ status }) => status >= 300); await delay(100))
        assert.ok(Date.now() < deadline, atrium.output().slice(-2_000))
    },
  }
}

async function endSessions(name: string): Promise<void> {
  const url = urlOfDatabase(process.env['ATRIUM_TEST_DATABASE_URL']!, 'postgres')
  await queryDatabase(url, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
}

test('while PostgreSQL refuses every log-in, calls are 503, and the same processes serve again once it admits them', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const asking = await startAsking(t, database.url)

  const name = new URL(database.url).pathname.slice(1)
  const allow = (isAllowed: boolean) =>
    queryDatabase(urlOfDatabase(database.url, 'postgres'), `alter database "${name}" allow_connections ${isAllowed}`)
  await allow(false)
  await endSessions(name)
  await asking.assertOutage()

  await allow(true)
  await asking.untilServed()
})

/** Ends all other sessions and opens new ones until there is none left for anybody else. Returns what closes them. */
async function takeAllConnections(t: TestContext, url: string): Promise<() => Promise<void>> {
  const held: Client[] = []
  const free = async () => void (await Promise.all(held.splice(0).map((client) => client.end())))
  t.after(free)
  const take = async () => {
    const client = new Client({ connectionString: url, application_name: 'another client' })
    await client.connect()
    held.push(client)
    return client
  }
  const first = await take()
  const others = `from pg_stat_activity where backend_type = 'client backend' and application_name <> 'another client'`
  // A session that is still logging in has a connection, and is listed a moment later.
  const hasOthers = async () => {
    if ((await first.query(`select ${others}`)).rowCount !== 0) return true
    await delay(300)
    return (await first.query(`select ${others}`)).rowCount !== 0
  }
  do {
    await first.query(`select pg_terminate_backend(pid) ${others}`)
    for (let isFull = false; !isFull;)
      await take().catch((error: { code?: string }) => {
        assert.equal(error.code, '53300')
        isFull = true
      })
  } while (await hasOthers())
  return free
}

test('while another client has all connections, calls are 503, starts name the setting, and the same processes serve again', async (t) => {
  const server = await startThrowawayPostgres({ max_connections: 40 })
  t.after(() => server.stop())
  const asking = await startAsking(t, server.connectionString)
  const free = await takeAllConnections(t, server.connectionString)
  await asking.assertOutage()
  for (const command of ['start', 'api', 'worker', 'space', 'migrate']) {
    const run = runAtrium([command], { DATABASE_URL: server.connectionString, PORT: String(await freePort()) })
    assert.equal(await run.ended(30_000), 1, run.output())
    const last = run.output().trim().split('\n').at(-1) ?? ''
    assert.match(last, /^atrium: DATABASE_URL: .*too many clients already\. .* raise max_connections/, command)
  }
  await free()
  await asking.untilServed()
  assert.match(asking.output(), /too many clients already\. .* raise max_connections/)
  assert.doesNotMatch(asking.output(), /starting it again/)
})

/** A database behind TLS, and a file with the certificate of its server, which is its own authority. */
async function openBehindTls(t: TestContext) {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const folder = await mkdtemp(join(tmpdir(), 'atrium-ca-'))
  t.after(() => rm(folder, { recursive: true }))
  const ca = join(folder, 'ca.pem')
  await writeFile(ca, validCertificate)
  const name = new URL(database.url).pathname.slice(1)
  const server = await startTls({ cert: validCertificate })
  return { ca, name, url: (query: string) => urlOfDatabase(urlOfProxy(server, query), name) }
}

test('while the certificate of PostgreSQL is not trusted, calls are 503, and the same processes serve again once its authority is in sslrootcert', async (t) => {
  const { ca, name, url } = await openBehindTls(t)
  const asking = await startAsking(t, url(`sslmode=verify-full&sslrootcert=${encodeURIComponent(ca)}`))

  for (const untrusted of [expiredCertificate, '']) {
    await writeFile(ca, untrusted)
    await endSessions(name)
    await asking.assertOutage()
    await writeFile(ca, validCertificate)
    await asking.untilServed()
  }
})

test('an authority in NODE_EXTRA_CA_CERTS is trusted by Space too', async (t) => {
  const { ca, url } = await openBehindTls(t)
  // An item and a turn are answered before it returns.
  await startAsking(t, url('sslmode=verify-full'), { NODE_EXTRA_CA_CERTS: ca })
})

// Measures the deliveries per second to fast endpoints by one worker process: node bench/webhooks.ts [events]
// [rounds]. The clock starts when events are committed without a number, and stops when the last of them is recorded
// as delivered. In between they are numbered, queued, signed, sent, answered with 204 and recorded. The receivers are
// in this process. PostgreSQL commits with fsync.
import { defaultEndpoint } from '../packages/contract/src/tokens.ts'
import { required } from '@atrium/contract/required'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../packages/server/src/config/config.ts'
import { readEnv } from '../packages/server/src/config/env.ts'
import type { Secrets } from '../packages/server/src/config/secrets.ts'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded-postgres.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { event, recordEvents } from '../packages/server/src/features/events/record-event.ts'
import { openTenant } from '../packages/server/src/features/tenants/open-tenant.ts'
import { insertSecret, insertWebhook } from '../packages/server/src/features/webhooks/store.ts'
import { newSecret, sealSecret } from '../packages/server/src/features/webhooks/webhook.ts'
import { startJobWorkerProcess } from '../packages/server/src/processes/job-worker-process.ts'
import { newId } from '../packages/server/src/crypto/random.ts'
import { Vault } from '../packages/server/src/crypto/vault/vault.ts'
import { median } from './goals.ts'

const [events = 5_000, rounds = 3] = process.argv.slice(2).map(Number)
const goal = 500

const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'atrium-bench-'))
chmodSync(folder, 0o711)
const postgres = await startEmbeddedPostgres({ dataDir: folder, say: () => {} })
const db = openDatabase({ url: postgres.connectionString, maxConnections: 10, onConnectionError: () => undefined })
const secrets: Secrets = {
  adminToken: 'bench-operator-token-0123456789',
  masterKeys: [Buffer.alloc(32, 7)] as const,
  stripe: undefined,
  s3: undefined,
  turn: undefined,
  otlpHeaders: undefined,
  madeFiles: [],
}
const servers: Server[] = []
try {
  await migrate(db.pool)
  const config = readConfig(readEnv({ ATRIUM_EGRESS: 'loopback', ATRIUM_LOG: 'error', ATRIUM_DATA_DIR: folder }))
  const worker = await startJobWorkerProcess(config, secrets, postgres.connectionString)
  try {
    for (const endpoints of [1, 20]) await bench(endpoints)
  } finally {
    await worker.stop()
  }
} finally {
  for (const server of servers) server.close().closeAllConnections()
  await db.close()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function bench(endpoints: number): Promise<void> {
  const tenants = await Promise.all(Array.from({ length: endpoints }, openEndpoint))
  await deliver(tenants, 500)
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) rates.push(await deliver(tenants, events))
  const rate = median(rates)
  const name = `${endpoints} endpoint${endpoints > 1 ? 's' : ''}`
  console.log(
    `${name.padEnd(14)}${Math.round(rate).toLocaleString('en').padStart(8)}/s  (${rates.map(Math.round)}; goal ${goal}/s)`,
  )
}

/** A tenant with a webhook, and an endpoint that answers at once. */
async function openEndpoint(): Promise<string> {
  const server = createServer((req, res) => {
    req.resume()
    req.once('end', () => res.writeHead(204).end())
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return db.transaction(async (tx) => {
    const { id: tenantId } = (await openTenant(tx, { name: 'Bench', email: null, roles: null })).tenant
    const ref = { tenantId, endpointId: defaultEndpoint }
    await insertWebhook(tx, { ...ref, url, events: ['item.deleted'], enabled: true, description: null })
    const id = newId('key')
    await insertSecret(tx, ref, { id, sealed: sealSecret(new Vault(secrets.masterKeys), ref, id, newSecret()) })
    return tenantId
  })
}

/** Commits that many events at once, spread over the tenants. Returns the deliveries per second. */
async function deliver(tenantIds: string[], count: number): Promise<number> {
  const before = await delivered()
  const news = Array.from({ length: count }, (_, n) =>
    event(required(tenantIds[n % tenantIds.length], 'there is an endpoint'), 'item.deleted', {
      collection_id: newId('collection'),
      item_id: newId('item'),
    }),
  )
  await db.transaction((tx) => recordEvents(tx, news))
  const startedAt = performance.now()
  while ((await delivered()) < before + count) await delay(20)
  return (count / (performance.now() - startedAt)) * 1_000
}

async function delivered(): Promise<number> {
  const { rows } = await db.pool.query(`select count(*)::int as count from webhook_deliveries where status = 'succeeded'`)
  const [row] = rows as { count: number }[]
  return required(row, 'a count answers one row').count
}

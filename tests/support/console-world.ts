import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './atrium-process.ts'
import { askGood, call, makeCollection, makeTenant, type TestTenant } from './call-api.ts'
import { grantCoupon, makeWallet, sellCredits } from './credits.ts'
import { epochBody } from './matrix-world.ts'
import { inviteMember, openConsole } from './role-cells.ts'
import { armRoom, makeAgent, newRoom, startSession } from './sessions.ts'
import { uploadFile, dot } from './upload-file.ts'

/** An installation, and what its console shows: as much of each kind as makes a page look like one in use. */
export interface ConsoleWorld {
  atrium: AtriumProcess
  database: TestDatabase
  tenant: TestTenant
  collection: { id: string; token: string }
  agent: string
  endpoint: string
  audit: string
  /** Where deliveries go: /good answers 200, everything else 500. */
  hooks: string
  close(): Promise<void>
}

const wishes = [
  'That the lamps are still lit when we come home.',
  'A little less wind next year, and the same company.',
  'For my grandmother, who folded the first lantern of this harbour in 1952 and never told anyone how she did the corners.',
  '祭りが無事に終わりますように。',
  'أتمنى أن يبقى الميناء مضاءً طوال الليل',
  'More soup!',
  'See you on the pier 🏮',
]
const authors = ['Ada', 'Noor', 'Jonas Lindqvist', '美咲', 'Grandpa Théodore', 'anonymous', 'Mwangi']

/** Starts an installation with a tenant that has something on every page. */
export async function startConsoleWorld(): Promise<ConsoleWorld> {
  const receiver = createServer((req, res) => {
    req.resume()
    const isGood = req.url === '/good'
    res.writeHead(isGood ? 200 : 500, { 'content-type': 'text/plain' })
    res.end(isGood ? 'thank you' : 'Error: relation "orders" does not exist\n    at Query.run (/srv/app/db.js:41:15)')
  })
  const [hooks, database] = await Promise.all([listen(receiver), createTestDatabase()])
  const env = { ATRIUM_EGRESS: 'loopback' }
  const atrium = await startAtrium({ databaseUrl: database.url, space: true, env })
  const close = async () => {
    await atrium.end()
    await database.drop()
    receiver.close()
    receiver.closeAllConnections()
  }
  try {
    return { atrium, database, hooks, close, ...(await fill(atrium.origin, hooks)) }
  } catch (error) {
    // A process that stays would keep the test from its end, and with it the reason.
    await close()
    throw error
  }
}

async function fill(origin: string, hooks: string) {
  const tenant = await makeTenant(origin, 'Harbour Lights')
  const [endpoint, collection] = await Promise.all([
    addEndpoints(origin, tenant, hooks),
    fillCollections(origin, tenant),
    addKeys(origin, tenant),
    addMembers(origin, tenant),
  ])
  const [agent, audit] = await Promise.all([
    addAgents(origin, tenant, hooks),
    fillInstallation(origin),
    moveCredits(origin, tenant),
  ])
  await makeMistakes(origin, tenant, collection.id)
  return { tenant, collection, agent, endpoint, audit }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function addEndpoints(origin: string, { secret: key }: TestTenant, hooks: string): Promise<string> {
  await askGood(origin, 'PUT /v1/tenant/webhooks', { key, body: { url: `${hooks}/good` } })
  const events = ['item.created', 'item.updated', 'collection.created', 'session.started', 'session.failed']
  const body = { url: `${hooks}/warehouse/v2/atrium-events`, description: 'Orders and the warehouse', events }
  return (await askGood(origin, 'POST /v1/tenant/webhooks/endpoints', { key, body })).data.id
}

async function fillCollections(origin: string, { secret: key }: TestTenant) {
  const titles = ['Guest book of the old ferry', 'A wedding in June', 'Votes for the mural', 'Summer school, class of 2026']
  for (const share_title of titles) await makeCollection(origin, key, { metadata: { share_title } })
  const body = {
    wall: true,
    item_access: 'open',
    metadata: { share_title: 'Lantern night', share_description: 'By the harbour.' },
  }
  const collection = await makeCollection(origin, key, body)
  const options = { key, token: collection.token }
  const path = `/v1/collections/${collection.id}`
  const ids: string[] = []
  for (let i = 0; i < 28; i++) {
    const item = { type: 'wish', content: { text: wishes[i % wishes.length] }, author: authors[i % authors.length] }
    ids.push((await askGood(origin, `POST ${path}/items`, { ...options, body: item })).data.id)
  }
  const flags = [{ approved: true }, { approved: true, hero: true }, { archived: true }, { approved: false }]
  for (const [i, flag] of flags.entries()) await askGood(origin, `PATCH ${path}/items/${ids[24 + i]}`, { ...options, body: flag })
  const paint = { prompt: 'A harbour at dusk under paper lanterns', size: '1536x1024', seed: 7 }
  const painted = await askGood(origin, `POST ${path}/paint`, { ...options, idempotencyKey: randomUUID(), body: paint })
  await askGood(origin, `POST ${path}/produce`, { ...options, body: { kind: 'card', title: 'Lantern night' } })
  await uploadFile({ origin, key, collection: collection.id, token: collection.token }, 'image/png', dot, 'image')
  const linked = { kind: 'image', url: 'https://pictures.example/pier.jpg', title: 'The pier, hosted elsewhere', alt: 'A pier' }
  await askGood(origin, `POST ${path}/artifacts`, { ...options, body: linked })
  await until('the picture', async () => {
    const { data } = await askGood(origin, `GET ${path}/artifacts/${painted.data.id}`, options)
    return data.status !== 'painting'
  })
  const curated = { published: true, hero: true }
  await askGood(origin, `PATCH ${path}/artifacts/${painted.data.id}`, { ...options, body: curated })
  return collection
}

async function addKeys(origin: string, { secret: key }: TestTenant): Promise<void> {
  const make = async (body: object) => (await askGood(origin, 'POST /v1/tenant/keys', { key, body })).data
  await make({ kind: 'secret', name: 'production, billing service' })
  await make({ kind: 'publishable', name: 'the app on the pier' })
  const old = await make({ kind: 'secret', name: 'continuous integration' })
  await make({ kind: 'secret', name: 'continuous integration', rotates: old.id, overlap_seconds: 86_400 })
  const lost = await make({ kind: 'secret', name: 'laptop that was lost' })
  await askGood(origin, `DELETE /v1/tenant/keys/${lost.id}`, { key })
}

async function addMembers(origin: string, tenant: TestTenant): Promise<void> {
  const owner = await openConsole(origin, tenant.id)
  const members = [
    ['owner', 'maria@harbour.example'],
    ['developer', 'ada.lovelace-of-the-northern-branch@engineering.harbour.example'],
    ['moderator', 'noor@harbour.example'],
    ['analyst', 'jonas@harbour.example'],
  ] as const
  for (const [role, email] of members) await inviteMember(origin, owner, role, email)
}

async function addAgents(origin: string, tenant: TestTenant, hooks: string): Promise<string> {
  const { secret: key } = tenant
  const remote = await makeAgent(origin, tenant, { name: 'Lamplighter', price_credits: 3 })
  const started = await startSession(origin, tenant, remote)
  await askGood(origin, `POST /sessions/${started.id}/stop`, { key: started.control })
  await startSession(origin, tenant, remote)
  await armRoom(origin, tenant, remote)
  const hosted = await makeAgent(origin, tenant, {
    name: 'The keeper of the harbour’s memory',
    description: 'Knows every boat that was ever moored here, and answers in two sentences.',
    endpoint: undefined,
    price_credits: 5,
    credits_per_1k_tokens: 2,
    greeting: 'Good evening. Which boat are you looking for?',
  })
  const gone = await makeAgent(origin, tenant, { name: 'Echo', endpoint: `${hooks}/launch`, price_credits: 2 })
  const coupon = await makeWallet(origin, key, 100)
  const body = { agent_id: gone, room: newRoom(), coupon }
  await askGood(origin, 'POST /v1/sessions', { key, idempotencyKey: randomUUID(), body })
  return hosted
}

async function moveCredits(origin: string, { secret: key }: TestTenant): Promise<void> {
  await sellCredits(origin, key, 'prefund', 2_500)
  await grantCoupon(origin, key, 25)
  const memo = { amount: 120, memo: 'For the volunteers of the lantern night' }
  await askGood(origin, 'POST /v1/wallets/grant', { key, idempotencyKey: randomUUID(), body: memo })
  const page = 'https://harbour.example/thanks'
  const checkout = { purpose: 'license_key', credits: 50, success_url: page, cancel_url: page }
  await askGood(origin, 'POST /v1/checkout', { key, body: checkout })
  await askGood(origin, 'POST /v1/epochs', { key, body: epochBody() })
}

/** What an operator sees. Returns the id of an audit. */
async function fillInstallation(origin: string): Promise<string> {
  const operator = true
  for (const name of ['Northern Ferry Company', 'School of Glass', 'Mural Association of the Old Town'])
    await makeTenant(origin, name)
  const late = await makeTenant(origin, 'Late Payer Ltd')
  const body = { status: 'suspended' }
  await askGood(origin, `POST /v1/tenants/${late.id}/status`, { operator, body })
  await askGood(origin, 'POST /v1/tenants/invites', { operator, body: { uses: 20 } })
  const spent = await askGood(origin, 'POST /v1/tenants/invites', { operator, body: { uses: 1 } })
  await askGood(origin, `DELETE /v1/tenants/invites/${spent.data.id}`, { operator })
  await askGood(origin, 'POST /v1/operator/credentials', { operator, body: { name: 'deployment pipeline' } })
  await askGood(origin, 'POST /v1/operator/credentials', { operator, body: { name: 'ada@harbour.example' } })
  const { data } = await askGood(origin, 'POST /v1/operator/audits', { operator, body: {} })
  await until('the audit', async () => {
    const read = await askGood(origin, `GET /v1/operator/audits/${data.id}`, { operator })
    return (read.data as unknown as { state: string }).state === 'done'
  })
  return data.id
}

async function makeMistakes(origin: string, { secret: key, publishable }: TestTenant, collection: string): Promise<void> {
  const headers = { origin: 'https://lanterns.harbour.example' }
  for (let i = 0; i < 6; i++) {
    await call(origin, `GET /v1/collections/${collection}`, { key: publishable, headers })
    await call(origin, `POST /v1/collections/${collection}/items`, { key: publishable, headers, body: { type: 'A B' } })
  }
  await call(origin, 'GET /v1/collections/col_0000000000000000000000', { key })
  await call(origin, 'POST /v1/wallets/grant', { key, idempotencyKey: randomUUID(), body: { amount: 1_000_000 } })
  await until('the log', async () => {
    const { data } = await askGood(origin, 'GET /v1/tenant/requests?status=4xx', { key })
    return (data as unknown as object[]).length >= 8
  })
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await isSo()); await delay(100))
    if (Date.now() > deadline) throw new Error(`${what} is not ready`)
}

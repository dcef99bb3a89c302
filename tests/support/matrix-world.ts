import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Operation } from '../../packages/contract/src/operation.ts'
import { operations } from '../../packages/contract/src/table.ts'
import { makeModulus } from '../../packages/server/testing/make-modulus.ts'
import { publishedKeys, ReportSigner } from '../../packages/server/testing/report-signer.ts'
import { idPrefixes, makeCredential, makeId, type CredentialKind, type IdKind } from '../../packages/contract/src/tokens.ts'
import { startAtrium, type AtriumProcess } from './atrium-process.ts'
import { askGood, call, makeTenant, type TestTenant } from './call-api.ts'
import { buyLicense, deepWallet } from './credits.ts'
import { armRoom, launchBody, makeAgent, startBudgetedSession, startSession } from './sessions.ts'
import { dot, uploadFile } from './upload-file.ts'

/** What a path can name: things with an id of their kind, and epochs, whose ids are thumbprints of keys. */
export type ThingKind = IdKind | 'epoch'

/** Ids of things by kind, for the parameters of a path ({id}, {itemId} …). */
export type Things = Partial<Record<ThingKind, string>>

/** One thing of each kind. */
export interface Shelf {
  tenant: TestTenant
  things: Things
  /** Capabilities of its collection. */
  owner: string
  contributor: string
  /** The control tokens of its session: the launcher's and the agent's. Empty if it has none. */
  control: string
  agentControl: string
}

/** Launches go to agents on this machine. */
const everything = { ATRIUM_EGRESS: 'loopback', TURN_URLS: 'turn:turn.example:3478', TURN_SECRET: 'shared-with-the-relay' }

const reportSigner = new ReportSigner()

/** What a report of leaked keys is signed with; nothing for any other operation. */
export function signatureOf(op: Operation, body: unknown): Record<string, string> {
  if (op.id !== 'reportLeakedKeys') return {}
  return reportSigner.headers(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))
}

/** Starts everything that a shelf and the operations need. */
export function startForShelves(databaseUrl: string, env: Record<string, string> = {}): Promise<AtriumProcess> {
  const keysFile = join(tmpdir(), `atrium-report-keys-${randomUUID()}.json`)
  writeFileSync(keysFile, publishedKeys([reportSigner]))
  process.once('exit', () => rmSync(keysFile, { force: true }))
  return startAtrium({ databaseUrl, space: true, env: { ...everything, ATRIUM_LEAKS_KEYS_FILE: keysFile, ...env } })
}

interface ShelfOptions {
  policy?: 'token' | 'open'
  /** budgeted: of a hosted agent, with a budget. */
  session?: boolean | 'budgeted'
  /** A webhook endpoint of its own. There may be few of them, so shelves share one otherwise. */
  ownEndpoint?: boolean
}

/**
 * A collection with an item and an artifact that only its owner can see; an agent, and a session that it has joined;
 * an epoch; and a checkout.
 */
export async function makeShelf(origin: string, tenant: TestTenant, options: ShelfOptions = {}): Promise<Shelf> {
  const { policy = 'token', session: withSession = true } = options
  const credential = await askGood(origin, 'POST /v1/operator/credentials', { operator: true, body: { name: randomUUID() } })
  // There may be few active ones; a revocation of a revoked one is answered like the first.
  await askGood(origin, `DELETE /v1/operator/credentials/${credential.data.id}`, { operator: true })
  const invite = await askGood(origin, 'POST /v1/tenants/invites', { operator: true, body: {} })
  const key = tenant.secret
  const { data } = await askGood(origin, 'POST /v1/collections', {
    key,
    body: { contributor_policy: policy, app_state: { secret: 1 }, wall: true },
  })
  const token = data.admin_token
  const path = `/v1/collections/${data.id}`
  const [item, artifact, made, agent, epoch, checkout] = await Promise.all([
    askGood(origin, `POST ${path}/items`, { key, token, body: { type: 'message', content: 'hello' } }),
    uploadFile({ origin, key, collection: data.id, token }, 'image/png', dot),
    askGood(origin, 'POST /v1/tenant/keys', { key, body: { kind: 'publishable' } }),
    makeAgent(origin, tenant),
    askGood(origin, 'POST /v1/epochs', { key, body: epochBody() }),
    askGood(origin, 'POST /v1/checkout', { key, body: operations.createCheckout.example.body }),
  ])
  const event = await newestDelivery(origin, key)
  const start = () => (withSession === 'budgeted' ? startBudgetedSession(origin, tenant) : startSession(origin, tenant, agent))
  const session = withSession ? await start() : undefined
  const things: Things = {
    tenant: tenant.id,
    collection: data.id,
    item: item.data.id,
    artifact: artifact.id,
    key: made.data.id,
    agent,
    ...(session ? { session: session.id } : {}),
    epoch: epoch.data.epoch,
    checkout: checkout.data.id,
    event,
    operatorCredential: credential.data.id,
    inviteEntry: invite.data.id,
    ledgerAudit: await sharedAudit(origin),
    webhookEndpoint: await (options.ownEndpoint ? makeEndpoint(origin, key) : sharedEndpoint(origin, key)),
    // No key sees a member by its id, so none is made.
    member: randomId('member'),
  }
  const { control = '', agentControl = '' } = session ?? {}
  return { tenant, things, owner: token, contributor: data.contributor_token, control, agentControl }
}

/** A delivery of a webhook. The webhook is set here, and the delivery is queued when a pull has numbered the event. */
async function newestDelivery(origin: string, key: string): Promise<string> {
  await askGood(origin, 'PUT /v1/tenant/webhooks', { key, body: { url: 'https://hooks.example/in' } })
  await askGood(origin, 'POST /v1/tenant/keys', { key, body: { kind: 'publishable' } })
  await askGood(origin, 'GET /v1/events', { key })
  const { data } = await askGood(origin, 'GET /v1/tenant/webhooks/deliveries?limit=1', { key })
  return (data as unknown as { id: string }[])[0]!.id
}

/** The kind of thing that a path parameter names, according to the pattern of its ids. */
export function kindOfParam(op: Operation, name: string): ThingKind {
  if (name === 'epoch') return name
  const { pattern = '' } = op.params!.properties[name] as { pattern?: string }
  const kind = (Object.keys(idPrefixes) as IdKind[]).find((kind) => pattern.includes(`${idPrefixes[kind]}[`))
  assert.ok(kind, `${op.id}: {${name}} is no id`)
  return kind
}

export function paramNames(op: Operation): string[] {
  return [...op.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
}

/** The path with the ids and with the query that the operation requires. */
export function pathTo(op: Operation, things: Things, origin: string): string {
  const path = op.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = things[kindOfParam(op, name)]
    assert.ok(id, `${op.id}: tests/support/matrix-world.ts makes no ${kindOfParam(op, name)}: let makeShelf make one`)
    return id
  })
  const query = op.id === 'getOembed' ? `?url=${encodeURIComponent(`${origin}/v1/collections/${things.collection}/render`)}` : ''
  return `${op.status === 'legacy' ? '' : '/v1'}${path}${query}`
}

/**
 * A valid body for the operation: the example of the contract, with the shelf's ids and codes in place of its
 * placeholders. What can be used only once is created anew.
 */
export async function bodyFor(op: Operation, origin: string, { tenant, things }: Shelf): Promise<unknown> {
  const example = op.example?.body as object | undefined
  switch (op.id) {
    case 'publishEpoch':
      return epochBody()
    case 'reportLeakedKeys':
      return [{ ...(example as unknown as object[])[0], token: (await makeSecret(origin, tenant)).key }]
    case 'signUpTenant':
      return {
        ...example,
        invite_code: (await askGood(origin, 'POST /v1/tenants/invites', { operator: true, body: {} })).data.invite_code,
      }
    case 'createOperatorCredential':
      return { ...example, name: randomUUID() }
    case 'createMember':
      return { ...example, email: `${randomUUID()}@harbour.example` }
    case 'deleteOwnTenant':
      return { tenant_id: tenant.id }
    case 'createConsoleLink':
      return { kind: 'tenant', tenant_id: things.tenant }
    case 'curateItems':
      return { ids: [things.item], patch: { approved: false } }
    case 'createWebhookEndpoint':
      await deleteSomeEndpoints(origin, tenant.secret, things.webhookEndpoint!)
      return example
    case 'lookUpWallet':
      return { wallet_code: await deepWallet(origin, tenant) }
    case 'grantCoupon':
      return { ...example, wallet_code: await deepWallet(origin, tenant) }
    case 'redeemWallet':
      return { license_key: await buyLicense(origin, tenant.secret) }
    case 'createQuote':
      return { agent_id: things.agent }
    case 'launchSession':
      return launchBody(origin, tenant, things.agent!)
    case 'topUpSession':
      return { coupon: await deepWallet(origin, tenant), budget_credits: 2 }
    case 'summonSession':
      return { summon_key: await armRoom(origin, tenant, things.agent!) }
    default:
      return example
  }
}

async function makeSecret(origin: string, { secret: key }: TestTenant): Promise<{ key: string }> {
  return (await askGood(origin, 'POST /v1/tenant/keys', { key, body: { kind: 'secret' } })).data
}

/** The session that a shelf needs for the operation. */
export function sessionFor(op: Operation): boolean | 'budgeted' {
  return op.id === 'topUpSession' ? 'budgeted' : op.caller === 'control'
}

const audits = new Map<string, Promise<string>>()

/** An audit reads the whole ledger, and nothing changes it. */
function sharedAudit(origin: string): Promise<string> {
  const known = audits.get(origin) ?? askGood(origin, 'POST /v1/operator/audits', { operator: true }).then(({ data }) => data.id)
  audits.set(origin, known)
  return known
}

const endpoints = new Map<string, Promise<string>>()

function sharedEndpoint(origin: string, key: string): Promise<string> {
  const known = endpoints.get(key) ?? makeEndpoint(origin, key)
  endpoints.set(key, known)
  return known
}

async function makeEndpoint(origin: string, key: string): Promise<string> {
  const body = { url: 'https://hooks.example/further' }
  return (await askGood(origin, 'POST /v1/tenant/webhooks/endpoints', { key, body })).data.id
}

/** There may be few of them, and each addition of a test makes one more. */
async function deleteSomeEndpoints(origin: string, key: string, kept: string): Promise<void> {
  const { data } = await askGood(origin, 'GET /v1/tenant/webhooks/endpoints', { key })
  const others = (data as unknown as { id: string }[]).filter(({ id }) => id !== 'default' && id !== kept)
  if (others.length < 10) return
  await Promise.all(others.map(({ id }) => call(origin, `DELETE /v1/tenant/webhooks/endpoints/${id}`, { key })))
}

/** A new key each time, because a key can be published once. It looks like a key, but cannot sign. */
export function epochBody() {
  return { public_key: { kty: 'RSA', n: makeModulus(), e: 'AQAB' }, value: 10 }
}

export const randomId = (kind: ThingKind) =>
  kind === 'epoch' ? randomBytes(32).toString('base64url') : makeId(kind, randomBytes)
export const unknownCredential = (kind: CredentialKind) => makeCredential(kind, randomBytes)

/** The same, except for one character of its checksum. */
export function breakChecksum(credential: string): string {
  return credential.slice(0, -1) + (credential.endsWith('0') ? '1' : '0')
}

export interface DeadKeys {
  revoked: { secret: string; publishable: string }
  expired: { secret: string; publishable: string }
  suspended: TestTenant
}

/** Keys that were valid once. None is valid when this returns. */
export async function makeDeadKeys(origin: string, tenant: TestTenant): Promise<DeadKeys> {
  const make = async (kind: string, more: object = {}) =>
    (await askGood(origin, 'POST /v1/tenant/keys', { key: tenant.secret, body: { kind, ...more } })).data
  const soon = { expires_at: new Date(Date.now() + 8_000).toISOString() }
  const [secret, publishable, oldSecret, oldPublishable, suspended] = await Promise.all([
    make('secret'),
    make('publishable'),
    make('secret', soon),
    make('publishable', soon),
    makeTenant(origin, 'Suspended'),
  ])
  const { id } = randomShelf()
  const living = (key: string) => call(origin, `GET /v1/collections/${id}`, { key })
  const all = [secret.key, publishable.key, oldSecret.key, oldPublishable.key, suspended.secret, suspended.publishable]
  for (const key of all) assert.equal((await living(key)).status, 404, 'the key works at first')
  for (const key of [secret, publishable]) await askGood(origin, `DELETE /v1/tenant/keys/${key.id}`, { key: tenant.secret })
  await askGood(origin, `POST /v1/tenants/${suspended.id}/status`, { operator: true, body: { status: 'suspended' } })
  await Promise.all(all.map((key) => waitUntil(async () => (await living(key)).status === 401)))
  return {
    revoked: { secret: secret.key, publishable: publishable.key },
    expired: { secret: oldSecret.key, publishable: oldPublishable.key },
    suspended,
  }
}

function randomShelf() {
  return { id: randomId('collection') }
}

async function waitUntil(holds: () => Promise<boolean>, timeoutMs = 25_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await holds()); await delay(100))
    assert.ok(Date.now() < deadline, 'it never came true')
}

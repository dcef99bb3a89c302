import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Operation } from '../../packages/contract/src/operation.ts'
import { operations } from '../../packages/contract/src/table.ts'
import { makeModulus } from '../../packages/server/testing/make-modulus.ts'
import { idPrefixes, makeCredential, makeId, type CredentialKind, type IdKind } from '../../packages/contract/src/tokens.ts'
import { startAtrium, type AtriumProcess } from './atrium-process.ts'
import { askGood, call, makeTenant, type TestTenant } from './call-api.ts'
import { buyLicense, deepWallet } from './credits.ts'
import { armRoom, launchBody, makeAgent, startSession } from './sessions.ts'
import { dot, uploadFile } from './upload-file.ts'

/** What a path can name: things with an id of their kind, and epochs, whose ids are thumbprints of keys. */
export type ThingKind = IdKind | 'epoch'

/** Ids of things, by kind: what a path with {id}, {itemId} … can name. */
export type Things = Partial<Record<ThingKind, string>>

/** One thing of each kind. */
export interface Shelf {
  tenant: TestTenant
  things: Things
  /** Capabilities of its collection. */
  owner: string
  contributor: string
  /** The control tokens of its session, of whoever launched it and of the agent; empty where it has none. */
  control: string
  agentControl: string
}

/** Launches go to agents on this machine. */
const everything = { ATRIUM_EGRESS: 'loopback', TURN_URLS: 'turn:turn.example:3478', TURN_SECRET: 'shared-with-the-relay' }

/** Starts all that a shelf and the operations need. */
export function startForShelves(databaseUrl: string, env: Record<string, string> = {}): Promise<AtriumProcess> {
  return startAtrium({ databaseUrl, space: true, env: { ...everything, ...env } })
}

interface ShelfOptions {
  policy?: 'token' | 'open'
  session?: boolean
}

/**
 * A collection with an item and an artifact, neither shown to anyone but its owner; an agent, and a session that it
 * has joined; an epoch; and a checkout.
 */
export async function makeShelf(origin: string, tenant: TestTenant, options: ShelfOptions = {}): Promise<Shelf> {
  const { policy = 'token', session: withSession = true } = options
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
  const session = withSession ? await startSession(origin, tenant, agent) : undefined
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
  }
  const { control = '', agentControl = '' } = session ?? {}
  return { tenant, things, owner: token, contributor: data.contributor_token, control, agentControl }
}

/** A webhook's: it is set here, and queued when the pull has numbered what happened. */
async function newestDelivery(origin: string, key: string): Promise<string> {
  await askGood(origin, 'PUT /v1/tenant/webhooks', { key, body: { url: 'https://hooks.example/in' } })
  await askGood(origin, 'POST /v1/tenant/keys', { key, body: { kind: 'publishable' } })
  await askGood(origin, 'GET /v1/events', { key })
  const { data } = await askGood(origin, 'GET /v1/tenant/webhooks/deliveries?limit=1', { key })
  return (data as unknown as { id: string }[])[0]!.id
}

/** The kind of thing that a path parameter names: read off the pattern of its ids. */
export function kindOfParam(op: Operation, name: string): ThingKind {
  if (name === 'epoch') return name
  const { pattern = '' } = op.params!.properties[name] as { pattern?: string }
  const kind = (Object.keys(idPrefixes) as IdKind[]).find((kind) => pattern.startsWith(`^${idPrefixes[kind]}`))
  assert.ok(kind, `${op.id}: {${name}} is no id`)
  return kind
}

export function paramNames(op: Operation): string[] {
  return [...op.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
}

/** The path with the ids in it, and with what else the operation cannot do without. */
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
 * A body that the operation takes: the example of the contract, with the shelf's own in the place of what there only
 * shows its shape. What can be used once is made anew.
 */
export async function bodyFor(op: Operation, origin: string, { tenant, things }: Shelf): Promise<unknown> {
  const example = op.example?.body as object | undefined
  switch (op.id) {
    case 'publishEpoch':
      return epochBody()
    case 'signUpTenant':
      return {
        ...example,
        invite_code: (await askGood(origin, 'POST /v1/tenants/invites', { operator: true, body: {} })).data.invite_code,
      }
    case 'curateItems':
      return { ids: [things.item], patch: { approved: false } }
    case 'lookUpWallet':
      return { wallet_code: await deepWallet(origin, tenant) }
    case 'grantCoupon':
      return { ...example, wallet_code: await deepWallet(origin, tenant) }
    case 'redeemWallet':
      return { license_key: await buyLicense(origin, tenant.secret) }
    case 'launchSession':
      return launchBody(origin, tenant, things.agent!)
    case 'summonSession':
      return { summon_key: await armRoom(origin, tenant, things.agent!) }
    default:
      return example
  }
}

/** Each time another key, since a key is published once. It looks like one, and signs nothing. */
export function epochBody() {
  return { public_key: { kty: 'RSA', n: makeModulus(), e: 'AQAB' }, value: 10 }
}

export const randomId = (kind: ThingKind) =>
  kind === 'epoch' ? randomBytes(32).toString('base64url') : makeId(kind, randomBytes)
export const unknownCredential = (kind: CredentialKind) => makeCredential(kind, randomBytes)

/** The same, but for one character of its checksum. */
export function breakChecksum(credential: string): string {
  return credential.slice(0, -1) + (credential.endsWith('0') ? '1' : '0')
}

export interface DeadKeys {
  revoked: { secret: string; publishable: string }
  expired: { secret: string; publishable: string }
  suspended: TestTenant
}

/** Keys that lived once: all are dead when this returns. */
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

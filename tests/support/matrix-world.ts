import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Operation } from '../../packages/contract/src/operation.ts'
import { idPrefixes, makeCredential, makeId, type CredentialKind, type IdKind } from '../../packages/contract/src/tokens.ts'
import { call, makeTenant, type Answer, type CallOptions, type TestTenant } from './call-api.ts'

/** Ids of things, by kind: what a path with {id}, {itemId} … can name. */
export type Things = Partial<Record<IdKind, string>>

/** A collection with all that is in it. */
export interface Shelf {
  things: Things
  /** Its capabilities. */
  owner: string
  contributor: string
}

/** Asks for what must go well. */
export async function askGood(origin: string, route: string, options: CallOptions): Promise<Answer> {
  const answer = await call(origin, route, options)
  assert.ok(answer.status < 300, `${route}: ${answer.status} ${answer.text}`)
  return answer
}

/** A token-policy collection with an item and an artifact, neither shown to anyone but its owner. */
export async function makeShelf(origin: string, { id, secret }: TestTenant, policy = 'token'): Promise<Shelf> {
  const key = secret
  const { data } = await askGood(origin, 'POST /v1/collections', {
    key,
    body: { contributor_policy: policy, app_state: { secret: 1 } },
  })
  const token = data.admin_token
  const path = `/v1/collections/${data.id}`
  const [item, artifact, made] = await Promise.all([
    askGood(origin, `POST ${path}/items`, { key, token, body: { type: 'message', content: 'hello' } }),
    askGood(origin, `POST ${path}/artifacts`, { key, token, body: { kind: 'image', url: 'https://pictures.example/a.png' } }),
    askGood(origin, 'POST /v1/tenant/keys', { key, body: { kind: 'publishable' } }),
  ])
  const things = { tenant: id, collection: data.id, item: item.data.id, artifact: artifact.data.id, key: made.data.id }
  return { things, owner: token, contributor: data.contributor_token }
}

/** The kind of thing that a path parameter names: read off the pattern of its ids. */
export function kindOfParam(op: Operation, name: string): IdKind {
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

/** A body that the operation takes: the example of the contract, but where that only shows the shape of a credential. */
export async function bodyFor(op: Operation, origin: string): Promise<unknown> {
  if (op.id !== 'signUpTenant') return op.example?.body
  const { data } = await askGood(origin, 'POST /v1/tenants/invites', { operator: true, body: {} })
  return { ...(op.example?.body as object), invite_code: data.invite_code }
}

export const randomId = (kind: IdKind) => makeId(kind, randomBytes)
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
  const soon = { expires_at: new Date(Date.now() + 2_000).toISOString() }
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

async function waitUntil(holds: () => Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await holds()); await delay(100))
    assert.ok(Date.now() < deadline, 'it never came true')
}

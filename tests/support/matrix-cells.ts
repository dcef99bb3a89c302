import type { ErrorCode } from '../../packages/contract/src/errors.ts'
import type { Operation } from '../../packages/contract/src/operation.ts'
import type { IdKind } from '../../packages/contract/src/tokens.ts'
import { adminToken } from './atrium-process.ts'
import type { TestTenant } from './call-api.ts'
import {
  breakChecksum,
  kindOfParam,
  paramNames,
  randomId,
  unknownCredential,
  type DeadKeys,
  type Shelf,
  type Things,
} from './matrix-world.ts'

/** What comes of a request: a code of the contract's error table, or it is done. */
export type Outcome = ErrorCode | 'done'

/** Headers that say who calls, and what they are worth. */
export interface Credential {
  name: string
  headers: Record<string, string>
  /** What a caller with it is. other: a tenant that the thing does not belong to. */
  worth: 'nobody' | 'suspended' | 'publishable' | 'secret' | 'secret in browser' | 'operator'
  other?: true
}

/** Every way to come with or without a tenant key or the operator's token. */
export function credentials(own: TestTenant, other: TestTenant, dead: DeadKeys, shelf: Shelf): Credential[] {
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const nobody = (name: string, headers: Record<string, string>): Credential => ({ name, headers, worth: 'nobody' })
  const browser = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }
  const operator = (token: string) => ({ 'x-admin-token': token })
  const ofKinds = (['secret', 'publishable'] as const).flatMap((kind): Credential[] => [
    nobody(`malformed ${kind} key`, bearer(own[kind].slice(0, -1))),
    nobody(`long ${kind} key`, bearer(`${own[kind]}0`)),
    nobody(`${kind} key of another case`, bearer(own[kind].toUpperCase())),
    nobody(`checksum-broken ${kind} key`, bearer(breakChecksum(own[kind]))),
    nobody(`unknown ${kind} key`, bearer(unknownCredential(kind === 'secret' ? 'secretKey' : 'publishableKey'))),
    nobody(`revoked ${kind} key`, bearer(dead.revoked[kind])),
    nobody(`expired ${kind} key`, bearer(dead.expired[kind])),
    nobody(`${kind} key as Basic`, { authorization: `Basic ${own[kind]}` }),
    nobody(`${kind} key as the operator's token`, operator(own[kind])),
    { name: `${kind} key of a suspended tenant`, headers: bearer(dead.suspended[kind]), worth: 'suspended' },
    { name: `${kind} key`, headers: bearer(own[kind]), worth: kind },
    { name: `${kind} key in X-API-Key`, headers: { 'x-api-key': own[kind] }, worth: kind },
    { name: `${kind} key of another tenant`, headers: bearer(other[kind]), worth: kind, other: true },
  ])
  return [
    nobody('no key', {}),
    nobody('empty key', bearer('')),
    nobody('words for a key', bearer('let me in')),
    nobody('a capability for a key', bearer(shelf.owner)),
    nobody("the operator's token for a key", bearer(adminToken)),
    nobody("wrong operator's token", operator(adminToken.replace(/.$/, '_'))),
    nobody("short operator's token", operator(adminToken.slice(0, -1))),
    nobody("long operator's token", operator(`${adminToken}0`)),
    nobody("empty operator's token", operator('')),
    nobody("operator's token in characters of two bytes", operator(adminToken.replace(/.$/, '\u00e9'))),
    { name: "operator's token", headers: operator(adminToken), worth: 'operator' },
    ...ofKinds,
    { name: 'secret key in a browser', headers: { ...bearer(own.secret), ...browser }, worth: 'secret in browser' },
    { name: 'secret key in a browser, X-API-Key', headers: { 'x-api-key': own.secret, ...browser }, worth: 'secret in browser' },
    { name: 'publishable key in a browser', headers: { ...bearer(own.publishable), ...browser }, worth: 'publishable' },
  ]
}

/** What X-Collection-Token may say. */
export interface CapabilityCase {
  name: string
  token: string | undefined
  worth: 'owner' | 'contributor' | 'nothing'
}

export function capabilities(shelf: Shelf, sibling: Shelf, other: Shelf): CapabilityCase[] {
  return [
    { name: 'owner token', token: shelf.owner, worth: 'owner' },
    { name: 'contributor token', token: shelf.contributor, worth: 'contributor' },
    ...Object.entries({
      'no token': undefined,
      'empty token': '',
      'words for a token': 'open sesame',
      'short token': shelf.owner.slice(0, -1),
      'long token': `${shelf.owner}0`,
      'checksum-broken token': breakChecksum(shelf.owner),
      'unknown token': unknownCredential('adminToken'),
      'contributor token that calls itself owner': shelf.contributor.replace('cct_', 'cat_'),
      'owner token of another collection': sibling.owner,
      'contributor token of another collection': sibling.contributor,
      "owner token of another tenant's collection": other.owner,
    }).map(([name, token]) => ({ name, token, worth: 'nothing' as const })),
  ]
}

/** What the path names. */
export interface Target {
  name: string
  things: Things
  /** own: it is there, and the tenant's. never: the answer must be that of a thing that never was. malformed: no id of anything. */
  is: 'own' | 'never' | 'malformed'
  /** How much of the path is the tenant's own: a collection whose item is not there is still theirs. */
  ownCollection: boolean
}

/** For each parameter of the path: the own thing, another tenant's, a deleted one, one that never was, and what is no id. */
export function targets(op: Operation, own: Shelf, sibling: Shelf, other: Shelf, gone: Shelf): Target[] {
  const all: Target[] = [{ name: 'own', things: own.things, is: 'own', ownCollection: true }]
  const kinds = paramNames(op).map((name) => kindOfParam(op, name))
  for (const [place, kind] of kinds.entries()) {
    const from = (name: string, source: (kind: IdKind) => string, is: Target['is'] = 'never'): Target => ({
      name: `${name} ${kind}`,
      things: { ...own.things, ...Object.fromEntries(kinds.slice(place).map((kind) => [kind, source(kind)])) },
      is,
      ownCollection: place > 0,
    })
    const id = own.things[kind]!
    all.push(
      from('random', randomId),
      from("other tenant's", (kind) => other.things[kind]!),
    )
    // Suspending a tenant twice, or revoking a key twice, changes nothing: neither is ever deleted.
    if (kind !== 'tenant' && kind !== 'key') all.push(from('deleted', (kind) => gone.things[kind]!))
    if (place > 0) all.push(from("another collection's", (kind) => sibling.things[kind]!))
    for (const bad of [
      'x',
      id.slice(0, -1),
      `${id}0`,
      id.toUpperCase(),
      `${id.slice(0, -1)}-`,
      id.replace(/^..._/, 'txn_'),
      '%20',
      '%F0%9F%98%80',
      "'--",
    ]) {
      all.push(from(`malformed (${bad})`, (one) => (one === kind ? bad : own.things[one]!), 'malformed'))
    }
  }
  return all
}

/** What the contract says comes of it: who calls, then whether the thing is theirs, then what they hold of it. */
export function expectedOutcome(op: Operation, who: Credential, held: CapabilityCase, target: Target): Outcome {
  const refused = keyRefusal(op, who)
  if (refused) return refused
  // What cannot be an id is nothing of anyone's: that is said before any token is looked at.
  if (target.is === 'malformed') return 'not_found'
  const there = target.is === 'own' && (!who.other || paramNames(op).length === 0)
  const seesCollection = target.ownCollection && !who.other
  if (!op.capability) return there || isOpenToAll(op, target) ? 'done' : 'not_found'
  if (!seesCollection) return 'not_found'
  if (op.capability === 'owner' && held.worth !== 'owner') return 'owner_token_required'
  if (op.capability === 'contributor' && held.worth === 'nothing') return 'contributor_token_required'
  if (!there) return 'not_found'
  // The item and the artifact of a shelf are shown to the owner alone.
  const hidden = op.id === 'getItem' || op.id === 'getArtifact'
  return hidden && held.worth !== 'owner' ? 'not_found' : 'done'
}

/** To an operator no tenant is another's, and a share page is for anyone with the link. */
function isOpenToAll(op: Operation, target: Target): boolean {
  const isThere = target.is === 'own' || target.name.startsWith("other tenant's")
  return (op.caller === 'operator' || op.caller === 'anyone') && isThere
}

function keyRefusal(op: Operation, { worth }: Credential): ErrorCode | undefined {
  if (op.caller === 'anyone') return undefined
  if (op.caller === 'operator') return worth === 'operator' ? undefined : 'unauthorized'
  if (worth === 'nobody' || worth === 'operator') return 'unauthorized'
  if (worth === 'suspended') return 'tenant_suspended'
  if (worth === 'secret in browser') return 'secret_key_in_browser'
  return op.caller === 'secret' && worth === 'publishable' ? 'secret_key_required' : undefined
}

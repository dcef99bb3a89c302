import type { ErrorCode } from '../../packages/contract/src/errors.ts'
import type { Operation } from '../../packages/contract/src/operation.ts'
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
  type ThingKind,
  type Things,
} from './matrix-world.ts'

/** The outcome of a request: a code of the contract's error table, or done. */
export type Outcome = ErrorCode | 'done'

/** The headers of a caller, and their rights. */
export interface Credential {
  name: string
  headers: Record<string, string>
  /**
   * The relation of the caller to the thing. other: a tenant that does not own it, or the holder of another session.
   */
  worth: 'nobody' | 'suspended' | 'publishable' | 'secret' | 'secret in browser' | 'operator' | 'control' | 'agent control'
  other?: true
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const nobody = (name: string, headers: Record<string, string>): Credential => ({ name, headers, worth: 'nobody' })

/** Every way to call with or without a tenant key or the operator's token. */
export function credentials(own: TestTenant, other: TestTenant, dead: DeadKeys, shelf: Shelf): Credential[] {
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
    { name: 'control token', headers: bearer(shelf.control), worth: 'control' },
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

/** Every further way to call with the control token of a session. */
export function controlCredentials(own: Shelf, sibling: Shelf, other: Shelf, ended: Shelf): Credential[] {
  const { control } = own
  const ofAgent = (name: string, { agentControl }: Shelf): Credential => ({
    name: `control token of the agent ${name}`,
    headers: bearer(agentControl),
    worth: 'agent control',
  })
  const ofAnother = (name: string, shelf: Shelf): Credential[] => [
    { name: `control token of ${name}`, headers: bearer(shelf.control), worth: 'control', other: true },
    { ...ofAgent(`of ${name}`, shelf), other: true },
  ]
  return [
    nobody('malformed control token', bearer(control.slice(0, -1))),
    nobody('long control token', bearer(`${control}0`)),
    nobody('control token of another case', bearer(control.toUpperCase())),
    nobody('checksum-broken control token', bearer(breakChecksum(control))),
    nobody('unknown control token', bearer(unknownCredential('controlToken'))),
    nobody('control token as Basic', { authorization: `Basic ${control}` }),
    nobody('control token in X-API-Key', { 'x-api-key': control }),
    nobody('control token in X-Collection-Token', { 'x-collection-token': control }),
    nobody('summon key for a control token', bearer(unknownCredential('summonKey'))),
    ofAgent('itself', own),
    ...ofAnother('another session', sibling),
    ...ofAnother("another tenant's session", other),
    ...ofAnother('a session that has ended', ended),
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
  /**
   * own: it exists and belongs to the tenant. never: the answer must be that for a thing that never existed.
   * malformed: not a valid id.
   */
  is: 'own' | 'never' | 'malformed'
  /** How much of the path belongs to the tenant: a collection without the item still belongs to it. */
  ownCollection: boolean
}

/**
 * For each parameter of the path: the tenant's own thing, another tenant's, a deleted one, one that never existed,
 * and a malformed id.
 */
export function targets(op: Operation, own: Shelf, sibling: Shelf, other: Shelf, gone: Shelf): Target[] {
  const all: Target[] = [{ name: 'own', things: own.things, is: 'own', ownCollection: true }]
  const kinds = paramNames(op).map((name) => kindOfParam(op, name))
  for (const [place, kind] of kinds.entries()) {
    const from = (name: string, source: (kind: ThingKind) => string, is: Target['is'] = 'never'): Target => ({
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
    // Suspending a tenant twice, or revoking a key twice, changes nothing, and neither is ever deleted. The same
    // applies to the others here.
    if (
      ![
        'tenant',
        'key',
        'operatorCredential',
        'inviteEntry',
        'ledgerAudit',
        'agent',
        'epoch',
        'checkout',
        'session',
        'event',
      ].includes(kind)
    )
      all.push(from('deleted', (kind) => gone.things[kind]!))
    if (place > 0) all.push(from("another collection's", (kind) => sibling.things[kind]!))
    for (const bad of [
      'x',
      id.slice(0, -1),
      `${id}0`,
      id.toUpperCase(),
      `${id.slice(0, -1)}-`,
      `txn_${id.slice(4)}`,
      '%20',
      '%F0%9F%98%80',
      "'--",
    ]) {
      all.push(from(`malformed (${bad})`, (one) => (one === kind ? bad : own.things[one]!), 'malformed'))
    }
  }
  return all
}

/**
 * The outcome according to the contract, which checks in this order: the caller, the ownership of the thing, the
 * token.
 */
export function expectedOutcome(op: Operation, who: Credential, held: CapabilityCase, target: Target): Outcome {
  const refused = keyRefusal(op, who)
  if (refused) return refused
  // A malformed id belongs to nobody. This is checked before any token.
  if (target.is === 'malformed') return 'not_found'
  const there = target.is === 'own' && (!who.other || paramNames(op).length === 0)
  if (op.caller === 'control') return controlOutcome(op, who, there)
  // The agent in the body must belong to the same tenant.
  if (['launchSession', 'createQuote'].includes(op.id) && who.other) return 'invalid_request'
  if (op.id === 'getMedia') return mediaOutcome(held, target)
  const seesCollection = target.ownCollection && !who.other
  if (!op.capability) return there || isOpenToAll(op, target) ? 'done' : 'not_found'
  if (!seesCollection) return 'not_found'
  if (op.capability === 'owner' && held.worth !== 'owner') return 'owner_token_required'
  if (op.capability === 'contributor' && held.worth === 'nothing') return 'contributor_token_required'
  if (!there) return 'not_found'
  // Only the owner can see the item and the artifact of a shelf.
  const hidden = op.id === 'getItem' || op.id === 'getArtifact'
  return hidden && held.worth !== 'owner' ? 'not_found' : 'done'
}

/** No key and no collection in the path: the owner token of the artifact's collection opens it. */
function mediaOutcome({ worth, name }: CapabilityCase, { is, name: target }: Target): Outcome {
  const opens =
    is === 'own' ? worth === 'owner' : target.startsWith("other tenant's") && name.startsWith("owner token of another tenant's")
  return opens ? 'done' : 'not_found'
}

/**
 * With the token of another session, the answer is that for a session that never existed. Each operation declares
 * which refusal that is. Some operations are only for the agent, and one is for everyone except the agent.
 */
function controlOutcome(op: Operation, { worth, other }: Credential, there: boolean): Outcome {
  if (!there || other) return ['stopSession', 'listAgentTools', 'rateAgent'].includes(op.id) ? 'not_authorized' : 'not_found'
  const asked = ['markSessionJoined', 'issueIdToken'].includes(op.id)
    ? 'agent control'
    : ['rateAgent', 'topUpSession'].includes(op.id)
      ? 'control'
      : worth
  return worth === asked ? 'done' : 'not_authorized'
}

/** The operator may access every tenant, and a share page is open to anyone with the link. */
function isOpenToAll(op: Operation, target: Target): boolean {
  const isThere = target.is === 'own' || target.name.startsWith("other tenant's")
  return (op.caller === 'operator' || op.caller === 'anyone') && isThere
}

/** The answer to a caller whose key is refused whatever the path names and the token is. */
export function keyRefusal(op: Operation, { worth, headers }: Credential): ErrorCode | undefined {
  // A report is signed, or an operator sends it. If a request has an operator token, only that token decides.
  if (op.id === 'reportLeakedKeys' && 'x-admin-token' in headers && worth !== 'operator') return 'unauthorized'
  if (op.caller === 'anyone') return undefined
  if (op.caller === 'operator') return worth === 'operator' ? undefined : 'unauthorized'
  if (op.caller === 'control') return worth.endsWith('control') ? undefined : 'unauthorized'
  if (worth === 'nobody' || worth === 'operator' || worth === 'control') return 'unauthorized'
  if (worth === 'suspended') return 'tenant_suspended'
  if (worth === 'secret in browser') return 'secret_key_in_browser'
  if (op.caller === 'secret' && worth === 'publishable') return 'secret_key_required'
  return op.sessionOnly ? 'role_not_allowed' : undefined
}

import { type Check, constant, list, object, optional, text, timestamp, variant, where } from './check.ts'
import { InvalidRecord } from './invalid-record.ts'
import { isLineHash } from './line.ts'

/**
 * The creator of the room, who may admit and expel: an account, or a device key by its thumbprint. A room that was
 * created without an identity has no owner; a room with a list always belongs to an account.
 */
export type Owner = { readonly email: string } | { readonly key: string }

/**
 * Addresses are in comparison form (identity's parseEmail). A member that is admitted again has a new admitted_at
 * and no revoked_at.
 */
export interface Member {
  readonly email: string
  readonly admitted_at: string
  readonly revoked_at?: string
}

export interface AdmittedAgent {
  readonly id: string
  readonly admitted_at: string
  readonly revoked_at?: string
}

/**
 * Line 0, and again in full at every change: the newest one applies. `allow` and `agents` are the list of an e-mail
 * room.
 */
export interface PolicyRecord {
  readonly t: 'policy'
  readonly policy: 'open' | 'email'
  readonly owner?: Owner
  readonly allow?: readonly Member[]
  readonly agents?: readonly AdmittedAgent[]
  readonly title?: string
  readonly require_proof?: true
  readonly at: string
}

/** `key` is the thumbprint of the device key. `proven`: the message had a valid proof by it. */
interface Device {
  readonly name?: string
  readonly key?: string
  readonly proven?: true
}

export type Author =
  | ({ readonly kind: 'anonymous' } & Device)
  | ({ readonly kind: 'account'; readonly email: string } & Device)
  | ({ readonly kind: 'agent'; readonly id: string } & Device)

interface Message {
  readonly text: string
  readonly reply_to?: string
  readonly client_id?: string
}

export interface TurnRecord {
  readonly t: 'turn'
  readonly id: string
  readonly at: string
  readonly author: Author
  readonly message: Message
}

/** The payload of a line. */
export type RoomRecord = PolicyRecord | TurnRecord

/** Longest message text, in UTF-8. */
export const MAX_TEXT_BYTES = 16_384

const email = where(text(254), (value) => /^[^\s@]+@[^\s@]+$/.test(value), 'must be an e-mail address')
const agentId = where(text(26), (value) => /^agt_[0-9A-Za-z]{22}$/.test(value), 'must be an agent id')
const thumbprint = where(text(43), isLineHash, 'must be a thumbprint')
const entryId = where(text(64), (value) => /^[0-9A-Za-z_-]+$/.test(value), 'must be an id')

const owner = variantOfOwner(object<{ email: string }>({ email }), object<{ key: string }>({ key: thumbprint }))
const member = object<Member>({ email, admitted_at: timestamp, revoked_at: optional(timestamp) })
const agent = object<AdmittedAgent>({ id: agentId, admitted_at: timestamp, revoked_at: optional(timestamp) })

const policyRecord = where(
  object<PolicyRecord>({
    t: constant('policy'),
    policy: (value, path) => (value === 'open' ? value : constant('email')(value, path)),
    owner: optional(owner),
    allow: optional(distinct(list(member), ({ email }) => email)),
    agents: optional(distinct(list(agent), ({ id }) => id)),
    title: optional(text(200)),
    require_proof: optional(constant(true)),
    at: timestamp,
  }),
  // A list in an open room would have no effect, and a list without an owner could never change.
  ({ policy, owner, allow, agents }) =>
    policy === 'email' ? allow !== undefined && owner !== undefined && 'email' in owner : !allow && !agents,
  'a list, and an account that owns the room, belong to policy email and to no other',
)

const device = { name: optional(text(200)), key: optional(thumbprint), proven: optional(constant(true)) }
const author = where(
  variant<Author>('kind', {
    anonymous: object<Author & { kind: 'anonymous' }>({ kind: constant('anonymous'), ...device }),
    account: object<Author & { kind: 'account' }>({ kind: constant('account'), email, ...device }),
    agent: object<Author & { kind: 'agent' }>({ kind: constant('agent'), id: agentId, ...device }),
  }),
  ({ key, proven }) => !proven || key !== undefined,
  'what is proven is proven by a key',
)

const turnRecord = object<TurnRecord>({
  t: constant('turn'),
  id: entryId,
  at: timestamp,
  author,
  message: object<Message>({
    text: where(text(MAX_TEXT_BYTES), fitsText, `is longer than ${MAX_TEXT_BYTES} bytes`),
    reply_to: optional(text(100)),
    client_id: optional(text(100)),
  }),
})

const roomRecord = variant<RoomRecord>('t', { policy: policyRecord, turn: turnRecord })

/**
 * The payload to seal. Throws InvalidRecord for a record that `parseRecord` would reject, so that every stored line
 * can be read.
 */
export function formatRecord(record: RoomRecord): string {
  return JSON.stringify(roomRecord(record, ''))
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses the payload of an opened line. Accepts only exactly the result of `formatRecord`; otherwise throws
 * InvalidRecord.
 */
export function parseRecord(payload: Uint8Array | string): RoomRecord {
  const { json, value } = readJson(payload)
  const record = roomRecord(value, '')
  // Rejects repeated members, other orders and other escapes, so that one record has one text.
  if (JSON.stringify(record) !== json) throw new InvalidRecord('', 'is not in the canonical form')
  return record
}

function readJson(payload: Uint8Array | string): { json: string; value: unknown } {
  try {
    const json = typeof payload === 'string' ? payload : utf8.decode(payload)
    return { json, value: JSON.parse(json) }
  } catch {
    throw new InvalidRecord('', 'is not JSON in UTF-8')
  }
}

function variantOfOwner(account: Check<{ email: string }>, key: Check<{ key: string }>): Check<Owner> {
  return (value, path) => (typeof value === 'object' && value && 'key' in value ? key(value, path) : account(value, path))
}

function distinct<Item>(items: Check<readonly Item[]>, name: (item: Item) => string): Check<readonly Item[]> {
  return where(items, (values) => new Set(values.map(name)).size === values.length, 'names someone twice')
}

/** A UTF-16 unit takes at most three bytes, so short texts need no counting. */
function fitsText(value: string): boolean {
  return value.length * 3 <= MAX_TEXT_BYTES || new TextEncoder().encode(value).length <= MAX_TEXT_BYTES
}

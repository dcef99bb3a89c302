import { namesOf } from './names-of.ts'
import type { Static, TObject, TProperties } from 'typebox'
import { Type } from './type.ts'
import { memberRoles } from './roles.ts'
import { credits, endpointId, id, nullable, oneOf, Timestamp } from './schemas.ts'

interface EventSpec<D extends TObject> {
  summary: string
  description: string
  /** Ids and the new state; never content or secrets. */
  data: D
  example: Static<D>
}

function eventSpec<P extends TProperties>(
  summary: string,
  description: string,
  properties: P,
  example: Static<TObject<P>>,
): EventSpec<TObject<P>> {
  return { summary, description, data: Type.Object(properties), example: example as never }
}

const suffix = '4fRzK0vXcB1mQwErTy7uPa'
const inCollection = { collection_id: id('collection') }
const inCollectionExample = { collection_id: `col_${suffix}` }

const item = {
  ...inCollection,
  item_id: id('item'),
  type: Type.String({ description: 'As it was added; `sealed` in a box.' }),
  approved: Type.Boolean(),
  archived: Type.Boolean(),
  hero: Type.Boolean(),
  access: oneOf(['owner', 'open', 'email']),
}
const itemExample = {
  ...inCollectionExample,
  item_id: `itm_${suffix}`,
  type: 'message',
  approved: true,
  archived: false,
  hero: false,
  access: 'owner' as const,
}

const collectionState = oneOf(['open', 'ready', 'closed'])
const collection = {
  ...inCollection,
  state: collectionState,
  contributor_policy: oneOf(['open', 'token']),
  item_access: oneOf(['owner', 'open']),
  wall: Type.Boolean(),
}
const collectionExample = {
  ...inCollectionExample,
  state: 'open' as const,
  contributor_policy: 'open' as const,
  item_access: 'owner' as const,
  wall: false,
}
const collectionField = oneOf(['metadata', 'contributor_policy', 'item_access', 'wall', 'admin_token', 'contributor_token'])

const artifact = {
  ...inCollection,
  artifact_id: id('artifact'),
  kind: oneOf(['image', 'clip', 'card']),
  source: oneOf(['url', 'paint', 'produce', 'upload']),
}
const artifactExample = {
  ...inCollectionExample,
  artifact_id: `art_${suffix}`,
  kind: 'image' as const,
  source: 'paint' as const,
}

const session = { session_id: id('session'), agent_id: id('agent'), room: Type.String({ description: 'Without its key.' }) }
const charged = { charged_credits: credits({ description: 'What was captured. Whole credits.' }) }
const sessionExample = { session_id: `ses_${suffix}`, agent_id: `agt_${suffix}`, room: 'lantern-night' }

const key = { key_id: id('key'), kind: oneOf(['secret', 'publishable']) }
const keyExample = { key_id: `key_${suffix}`, kind: 'secret' as const }

const tenantStatus = oneOf(['active', 'suspended'])

/** Every event type, for webhooks and for polling: its meaning, and the schema of its data. */
export const eventSpecs = {
  'item.created': eventSpec('An item was added', 'Someone added an item to a collection.', item, itemExample),
  'item.updated': eventSpec(
    'An item was curated',
    'Its curation flags or its access changed. An item that loses the hero flag to another one also has this event. ' +
      'Changes of an access list are not.',
    item,
    { ...itemExample, hero: true },
  ),
  'item.deleted': eventSpec(
    'An item was deleted',
    'Only for single deletions: a deleted collection sends only `collection.deleted`, without an event for each item.',
    { ...inCollection, item_id: id('item') },
    { ...inCollectionExample, item_id: itemExample.item_id },
  ),
  'collection.created': eventSpec('A collection was created', 'It starts in state open.', collection, collectionExample),
  'collection.updated': eventSpec(
    'A collection was changed',
    'Its metadata, policy or visibility changed, or a token was rotated. `changed` names the fields; metadata and tokens are never part of ' +
      'an event.',
    { ...collection, changed: Type.Array(collectionField) },
    { ...collectionExample, item_access: 'open', changed: ['item_access'] },
  ),
  'collection.state_changed': eventSpec(
    'A collection changed its state',
    'The new state: ready or closed.',
    { ...inCollection, state: collectionState, previous: collectionState },
    { ...inCollectionExample, state: 'ready', previous: 'open' },
  ),
  'collection.deleted': eventSpec(
    'A collection was deleted',
    'Its items and artifacts were deleted with it.',
    inCollection,
    inCollectionExample,
  ),
  'artifact.ready': eventSpec(
    'An artifact is ready',
    'It was added by URL, painted, produced or uploaded.',
    artifact,
    artifactExample,
  ),
  'artifact.failed': eventSpec(
    'An artifact could not be made',
    '`status` is `failed` or `quota_exceeded`.',
    { ...artifact, status: oneOf(['failed', 'quota_exceeded']), error_code: Type.String() },
    { ...artifactExample, status: 'failed', error_code: 'provider_refused' },
  ),
  'artifact.published': eventSpec('An artifact was published', 'Its access decides who can see it.', artifact, artifactExample),
  'artifact.deleted': eventSpec(
    'An artifact was deleted',
    'Only for single deletions: a deleted collection sends only `collection.deleted`.',
    { ...inCollection, artifact_id: id('artifact') },
    { ...inCollectionExample, artifact_id: artifactExample.artifact_id },
  ),
  'session.started': eventSpec('A session started', 'The agent joined the room.', session, sessionExample),
  'session.joined': eventSpec(
    'An agent joined its room',
    'Once a session, when its agent joins for the first time; from then on the price is due. It is recorded together with `session.started`, which stays ' +
      'as it was, and has the time and the price.',
    { ...session, joined_at: Timestamp, price_credits: credits() },
    { ...sessionExample, joined_at: '2026-11-20T09:30:04.000Z', price_credits: 5 },
  ),
  'session.paused': eventSpec(
    'A session paused',
    'Its budget is used up. The agent stays in the room and answers again after `POST /sessions/{id}/top-up`.',
    {
      ...session,
      budget_credits: credits({ description: 'What was held for use. Whole credits.' }),
      used_credits: credits({ description: 'What was used. Whole credits.' }),
    },
    { ...sessionExample, budget_credits: 20, used_credits: 21 },
  ),
  'session.stopped': eventSpec(
    'A session stopped',
    'It was stopped, or its time limit was reached (`expired`).',
    { ...session, status: oneOf(['stopped', 'expired']), ...charged },
    { ...sessionExample, status: 'stopped', charged_credits: 5 },
  ),
  'session.failed': eventSpec(
    'A session failed',
    'The agent did not join, or could not continue.',
    { ...session, error_code: Type.String(), ...charged },
    { ...sessionExample, error_code: 'agent_unreachable', charged_credits: 0 },
  ),
  'wallet.redeemed': eventSpec(
    'A wallet was redeemed',
    'A license key or a blind token was redeemed for a wallet. Only the answer to that call contains the wallet code.',
    {
      transaction_id: id('transaction'),
      method: oneOf(['license_key', 'token']),
      epoch: nullable(Type.String({ description: 'The epoch of the token; null for a license key.' })),
      amount: credits(),
    },
    { transaction_id: `txn_${suffix}`, method: 'license_key', epoch: null, amount: 1_000 },
  ),
  'coupon.granted': eventSpec(
    'A coupon was granted',
    'Only the answer to that call contains the coupon. `source` is what paid: the balance of the issuer, a wallet or a coupon.',
    {
      transaction_id: id('transaction'),
      amount: credits(),
      source: oneOf(['issuer', 'wallet', 'coupon']),
      expires_at: nullable(Timestamp),
    },
    { transaction_id: `txn_${suffix}`, amount: 5, source: 'issuer', expires_at: null },
  ),
  'checkout.paid': eventSpec(
    'A checkout was paid',
    'The credits were moved. A license key is in the answer of `GET /checkout/{id}`, never in an event.',
    { checkout_id: id('checkout'), purpose: oneOf(['license_key', 'prefund']), credits: credits() },
    { checkout_id: `chk_${suffix}`, purpose: 'license_key', credits: 100 },
  ),
  'checkout.refunded': eventSpec(
    'The payment of a checkout was returned',
    'By a refund, or because the buyer disputed it. `taken` credits were taken back: from the license key, the wallet ' +
      'that it was redeemed for, or the issuer’s balance. `lost` were spent or held, and are booked to the loss account. ' +
      'Credits that return to the wallet or balance later, from a hold or an expired coupon, are taken back then.',
    { checkout_id: id('checkout'), reason: oneOf(['refund', 'dispute']), taken: credits(), lost: credits() },
    { checkout_id: `chk_${suffix}`, reason: 'refund', taken: 80, lost: 20 },
  ),
  'checkout.recovered': eventSpec(
    'A part of a loss was recovered',
    'Credits of a returned payment came back to the wallet, or to the issuer’s balance, from a hold or an expired ' +
      'coupon. `taken` of them were taken back. `owed` are still lost.',
    { checkout_id: id('checkout'), taken: credits(), owed: credits() },
    { checkout_id: `chk_${suffix}`, taken: 15, owed: 5 },
  ),
  'checkout.reinstated': eventSpec(
    'A returned payment came back',
    'A dispute was won. `returned` credits, those that had been taken back, are where they were taken from. `cancelled` ' +
      'had not been taken back: they are no loss any more.',
    { checkout_id: id('checkout'), returned: credits(), cancelled: credits() },
    { checkout_id: `chk_${suffix}`, returned: 95, cancelled: 5 },
  ),
  'key.created': eventSpec(
    'A key was created',
    "The tenant's first two keys also have this event.",
    { ...key, expires_at: nullable(Timestamp) },
    { ...keyExample, expires_at: null },
  ),
  'key.revoked': eventSpec('A key was revoked', 'It is no longer accepted.', key, keyExample),
  'key.leaked': eventSpec(
    'A key was found in public',
    'Sent for each place where the key is found, up to 20. `action` is `revoked`, `notified` (the key is still valid: revoke ' +
      'it) or `ended` (it was not valid any more).',
    {
      ...key,
      hint: Type.String({ description: 'The prefix and the last four characters of the key.' }),
      action: oneOf(['revoked', 'notified', 'ended']),
      url: nullable(Type.String({ description: 'Where it was found. Not checked.' })),
      source: nullable(Type.String({ description: 'In what it was found, such as `commit`.' })),
      first_seen_at: Timestamp,
    },
    {
      ...keyExample,
      hint: 'wsk_…9xQ2',
      action: 'revoked' as const,
      url: 'https://github.com/octocat/Hello-World/blob/main/foo/bar.txt',
      source: 'content',
      first_seen_at: '2026-11-20T09:30:00.000Z',
    },
  ),
  'key.expiring': eventSpec(
    'A key is about to expire',
    'Sent 7 days before, and again 1 day before. For a key that has less time left when it is created, it is sent once. ' +
      'For a key that was rotated, it is not sent while its replacement, or a later one, is valid.',
    { ...key, expires_at: Timestamp },
    { ...keyExample, expires_at: '2026-11-27T09:30:00.000Z' },
  ),
  'member.added': eventSpec(
    'A member was added',
    'An owner invited a person to the console of the tenant.',
    { member_id: id('member'), role: oneOf([...memberRoles]) },
    { member_id: `mem_${suffix}`, role: 'moderator' },
  ),
  'member.removed': eventSpec(
    'A member was removed',
    'The sessions of the member have ended.',
    { member_id: id('member') },
    { member_id: `mem_${suffix}` },
  ),
  'webhook.disabled': eventSpec(
    'The webhook was disabled',
    'Its endpoint answered 410 (`gone`), or every attempt failed for five days (`failing`). Nothing more is sent ' +
      'to it, so read this event with `listEvents`.',
    { endpoint: endpointId('The endpoint that was disabled.'), reason: oneOf(['gone', 'failing']), failing_since: Timestamp },
    { endpoint: 'default', reason: 'failing', failing_since: '2026-11-15T09:30:00.000Z' },
  ),
  'tenant.status_changed': eventSpec(
    'The tenant was suspended or reactivated',
    'The operator changed the status of the tenant.',
    { status: tenantStatus, previous: tenantStatus },
    { status: 'suspended', previous: 'active' },
  ),
} as const

export type EventType = keyof typeof eventSpecs

/** The data of an event of this type. */
export type EventData<T extends EventType> = Static<(typeof eventSpecs)[T]['data']>

export const eventTypes = namesOf(eventSpecs)

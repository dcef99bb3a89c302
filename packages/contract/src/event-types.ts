import Type, { type Static, type TObject, type TProperties } from 'typebox'
import { credits, id, nullable, oneOf, Timestamp } from './schemas.ts'

interface EventSpec<D extends TObject> {
  summary: string
  description: string
  /** Ids and the new state: never content, never a secret. */
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

/** Everything that is told, by webhook and to whoever pulls: what each type means and what its data holds. */
export const eventSpecs = {
  'item.created': eventSpec('An item was added', 'Someone added an item to a collection.', item, itemExample),
  'item.updated': eventSpec(
    'An item was curated',
    'Its curation flags or its access changed. An item that stops being the hero because another one becomes it is told too. Who is on an ' +
      'access list is not.',
    item,
    { ...itemExample, hero: true },
  ),
  'item.deleted': eventSpec(
    'An item was deleted',
    'By itself: the items of a deleted collection go with `collection.deleted` alone.',
    { ...inCollection, item_id: id('item') },
    { ...inCollectionExample, item_id: itemExample.item_id },
  ),
  'collection.state_changed': eventSpec(
    'A collection changed its state',
    'It went forward: open, ready, closed.',
    { ...inCollection, state: collectionState, previous: collectionState },
    { ...inCollectionExample, state: 'ready', previous: 'open' },
  ),
  'collection.deleted': eventSpec(
    'A collection was deleted',
    'With all its items and artifacts.',
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
    '`status` says whether a quota was used up.',
    { ...artifact, status: oneOf(['failed', 'quota_exceeded']), error_code: Type.String() },
    { ...artifactExample, status: 'failed', error_code: 'provider_refused' },
  ),
  'artifact.published': eventSpec('An artifact was published', 'Anyone may see it from now on.', artifact, artifactExample),
  'session.started': eventSpec('A session started', 'The agent joined the room.', session, sessionExample),
  'session.stopped': eventSpec(
    'A session stopped',
    'It was stopped, or its time was up (`expired`).',
    { ...session, status: oneOf(['stopped', 'expired']), ...charged },
    { ...sessionExample, status: 'stopped', charged_credits: 5 },
  ),
  'session.failed': eventSpec(
    'A session failed',
    'The agent did not come, or could not go on.',
    { ...session, error_code: Type.String(), ...charged },
    { ...sessionExample, error_code: 'agent_unreachable', charged_credits: 0 },
  ),
  'wallet.redeemed': eventSpec(
    'A wallet was redeemed',
    'A license key or a blind token became a wallet. The wallet code is in the answer to that call alone.',
    {
      transaction_id: id('transaction'),
      method: oneOf(['license_key', 'token']),
      epoch: nullable(Type.String({ description: 'Of the token.' })),
      amount: credits(),
    },
    { transaction_id: `txn_${suffix}`, method: 'license_key', epoch: null, amount: 1_000 },
  ),
  'key.created': eventSpec(
    'A key was made',
    "The tenant's first two keys are told too.",
    { ...key, expires_at: nullable(Timestamp) },
    { ...keyExample, expires_at: null },
  ),
  'key.revoked': eventSpec('A key was revoked', 'It opens nothing any more.', key, keyExample),
  'key.expiring': eventSpec(
    'A key is about to expire',
    'Told 7 days before, and again 1 day before. A key that has less left when it is made, or rotated, is told once.',
    { ...key, expires_at: Timestamp },
    { ...keyExample, expires_at: '2026-11-27T09:30:00.000Z' },
  ),
  'webhook.disabled': eventSpec(
    'The webhook was disabled',
    'Its endpoint answered 410 (`gone`), or did nothing but fail for five days (`failing`). It is no longer sent to: this one is to be pulled.',
    { reason: oneOf(['gone', 'failing']), failing_since: Timestamp },
    { reason: 'failing', failing_since: '2026-11-15T09:30:00.000Z' },
  ),
  'tenant.status_changed': eventSpec(
    'The tenant was suspended or let in again',
    'By the operator.',
    { status: tenantStatus, previous: tenantStatus },
    { status: 'suspended', previous: 'active' },
  ),
} as const

export type EventType = keyof typeof eventSpecs

/** What an event of the type tells. */
export type EventData<T extends EventType> = Static<(typeof eventSpecs)[T]['data']>

export const eventTypes = Object.keys(eventSpecs) as [EventType, ...EventType[]]

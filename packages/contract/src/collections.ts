import { Type } from './type.ts'
import { operation } from './operation.ts'
import { developers, everyMember, moderators } from './roles.ts'
import { closed, id, oneOf, noNul, opaqueObject, pageQuery, PublicJwk, Timestamp } from './schemas.ts'

export const collectionParams = Type.Object({ id: id('collection') })

const state = oneOf(['open', 'ready', 'closed'])
const contributorPolicy = oneOf(['open', 'token'], {
  description: 'open: a publishable key is enough to add items. token: a contributor or owner token is required as well.',
})
const itemAccess = oneOf(['owner', 'open'], {
  description:
    'The access of items that are added from now on. open: anyone with the publishable key lists and reads them. In a box it is always owner.',
  default: 'owner',
})
const wall = Type.Boolean({
  description: 'Whether the collection has a wall: a page that shows the open items without a key. A box cannot have one.',
  default: false,
})
const metadata = opaqueObject(
  'The app\'s own configuration, at most 16 KiB. The share page reads share_title, share_description and theme ("light", "dark", "paper", ' +
    '"neon", or an object of CSS colours). The wall reads these, and wall_layout ("cards", "book" or "stage").',
)
const appState = opaqueObject("The app's own state, at most 16 KiB, readable by the owner alone.")

const collectionExample = {
  id: 'col_4fRzK0vXcB1mQwErTy7uPa',
  metadata: { share_title: 'Lantern night', theme: 'dark' },
  state: 'open',
  contributor_policy: 'open',
  item_access: 'owner',
  wall: false,
  item_count: 12,
  created_at: '2026-11-20T09:30:00.000Z',
}

const CollectionPublic = Type.Object({
  id: id('collection'),
  metadata,
  state,
  contributor_policy: contributorPolicy,
  item_access: itemAccess,
  wall,
  item_count: Type.Integer({ description: 'The number of items that are approved and not archived.' }),
  created_at: Timestamp,
  app_state: Type.Optional(appState),
})

/** A collection in the list of its tenant. */
const CollectionSummary = Type.Object({
  id: CollectionPublic.properties.id,
  state,
  contributor_policy: contributorPolicy,
  item_count: CollectionPublic.properties.item_count,
  created_at: Timestamp,
  metadata,
})

const { item_access: _itemAccess, wall: _wall, ...summaryExample } = collectionExample

export const collectionOperations = {
  createCollection: operation({
    id: 'createCollection',
    kind: 'write',
    method: 'POST',
    path: '/collections',
    status: 'live',
    tag: 'Collections',
    summary: 'Make a collection',
    description:
      'A new collection is open. The holder of its admin_token is the owner. With contributor_policy `token` the ' +
      'answer also contains a contributor_token that can only add items. Both tokens are returned only in this ' +
      'answer. With `box`, every item is sealed to the recipient on arrival (compact JWE, ECDH-ES+A256KW with ' +
      'A256GCM): no plaintext is stored, and only the holder of the private key can read it.',
    caller: 'publishable',
    roles: moderators,
    idempotency: 'accepted',
    body: closed({
      metadata: Type.Optional(metadata),
      contributor_policy: Type.Optional(contributorPolicy),
      item_access: Type.Optional(itemAccess),
      wall: Type.Optional(wall),
      app_state: Type.Optional(appState),
      box: Type.Optional(closed({ recipient: PublicJwk })),
    }),
    answers: {
      201: {
        description: 'The collection and its capability tokens.',
        data: Type.Object({
          id: id('collection'),
          admin_token: Type.String(),
          contributor_token: Type.Optional(Type.String()),
        }),
        oneTimeSecret: true,
        warns: true,
      },
    },
    example: {
      body: { metadata: collectionExample.metadata, contributor_policy: 'token' },
      data: { id: collectionExample.id, admin_token: 'cat_…', contributor_token: 'cct_…' },
    },
  }),
  listCollections: operation({
    id: 'listCollections',
    kind: 'read',
    method: 'GET',
    path: '/collections',
    status: 'live',
    tag: 'Collections',
    summary: 'List collections',
    description:
      "The tenant's collections, newest first. A call reads a bounded number of them: with `state` or `q` a page may hold fewer than " +
      '`limit`, or none, and still have a next_cursor.',
    caller: 'secret',
    roles: everyMember,
    query: closed({
      state: Type.Optional(state),
      q: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          pattern: noNul,
          description: 'A part of metadata.share_title, in upper or lower case.',
        }),
      ),
      ...pageQuery,
    }),
    answers: { 200: { description: 'A page of collections.', data: Type.Array(CollectionSummary), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [summaryExample] },
  }),
  rotateCollectionTokens: operation({
    id: 'rotateCollectionTokens',
    kind: 'write',
    method: 'POST',
    path: '/collections/{id}/tokens',
    status: 'live',
    tag: 'Collections',
    summary: 'Rotate the tokens of a collection',
    description:
      'Creates new tokens for the kinds that are named. The old ones stop working at once. The new ones are returned only in this answer: send an Idempotency-Key, and ' +
      'a lost answer can be requested again. It needs no owner token, so that a lost one can be replaced. A collection whose policy is ' +
      '`open` has no contributor token: 409 `state_conflict`.',
    caller: 'secret',
    roles: developers,
    audited: true,
    idempotency: 'accepted',
    params: collectionParams,
    body: closed({
      rotate: Type.Array(oneOf(['admin_token', 'contributor_token']), { minItems: 1, maxItems: 2, uniqueItems: true }),
    }),
    answers: {
      201: {
        description: 'The new tokens.',
        data: Type.Object({
          id: id('collection'),
          admin_token: Type.Optional(Type.String()),
          contributor_token: Type.Optional(Type.String()),
        }),
        oneTimeSecret: true,
      },
    },
    errors: ['state_conflict'],
    example: { body: { rotate: ['admin_token'] }, data: { id: collectionExample.id, admin_token: 'cat_…' } },
  }),
  getCollection: operation({
    id: 'getCollection',
    kind: 'read',
    method: 'GET',
    path: '/collections/{id}',
    status: 'live',
    tag: 'Collections',
    summary: 'Read a collection',
    description: 'What anyone with the publishable key may see, without the items. The owner token adds `app_state`.',
    caller: 'publishable',
    roles: everyMember,
    capability: 'optional',
    params: collectionParams,
    answers: { 200: { description: 'The collection.', data: CollectionPublic } },
    example: { data: collectionExample },
  }),
  updateCollection: operation({
    id: 'updateCollection',
    kind: 'write',
    method: 'PATCH',
    path: '/collections/{id}',
    status: 'live',
    tag: 'Collections',
    summary: 'Change metadata, policy or visibility',
    description:
      '`metadata` is applied as JSON Merge Patch (RFC 7396): null removes a field. Changing the policy from open ' +
      'to token creates a new contributor_token, which is returned only in this answer. Send an Idempotency-Key so ' +
      'that a retry can return it again.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    idempotency: 'accepted',
    params: collectionParams,
    body: closed(
      {
        metadata: Type.Optional(metadata),
        contributor_policy: Type.Optional(contributorPolicy),
        item_access: Type.Optional(itemAccess),
        wall: Type.Optional(wall),
      },
      { minProperties: 1 },
    ),
    answers: {
      200: {
        description: 'The collection.',
        data: Type.Object({ ...CollectionPublic.properties, contributor_token: Type.Optional(Type.String()) }),
        oneTimeSecret: true,
        warns: true,
      },
    },
    example: { body: { metadata: { theme: 'neon' } }, data: { ...collectionExample, app_state: {} } },
  }),
  deleteCollection: operation({
    id: 'deleteCollection',
    kind: 'write',
    method: 'DELETE',
    path: '/collections/{id}',
    status: 'live',
    tag: 'Collections',
    summary: 'Delete a collection',
    description: 'Deletes the collection, its items and its artifacts permanently, and their stored bytes within seconds.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    params: collectionParams,
    answers: { 204: { description: 'Gone.' } },
  }),
  setCollectionState: operation({
    id: 'setCollectionState',
    kind: 'write',
    method: 'POST',
    path: '/collections/{id}/state',
    status: 'live',
    tag: 'Collections',
    summary: 'Advance the state, or merge app_state',
    description:
      'open → ready → closed, forward only; open → closed is allowed; the current state is a no-op. Backwards is ' +
      '409 `state_conflict`. `app_state` is applied as JSON Merge Patch (RFC 7396). Both in one call change ' +
      'together or not at all.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    params: collectionParams,
    body: closed({ state: Type.Optional(state), app_state: Type.Optional(appState) }, { minProperties: 1 }),
    answers: {
      200: {
        description: 'The state. Contains the merged app_state only when the request patched it.',
        data: Type.Object({ id: id('collection'), state, app_state: Type.Optional(appState) }),
      },
    },
    errors: ['state_conflict'],
    example: { body: { state: 'ready' }, data: { id: collectionExample.id, state: 'ready' } },
  }),
}

import { Type } from './type.ts'
import { collectionParams } from './collections.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { everyMember, moderators } from './roles.ts'
import {
  anyJson,
  closed,
  EmailAddress,
  GenericOk,
  id,
  nullable,
  oneOf,
  noNul,
  opaqueObject,
  pageQuery,
  Timestamp,
} from './schemas.ts'

const itemParams = Type.Object({ ...collectionParams.properties, itemId: id('item') })

const access = oneOf(['owner', 'open', 'email'], {
  description:
    'Who can read the item. owner: only the owner. open: anyone with the publishable key and the id. email: the ' +
    'accounts it is granted to.',
})

/** The headers that prove an account where access is limited to a list of accounts. */
export const identityHeaders = Type.Object({
  'x-id-token': Type.Optional(Type.String({ description: 'ID token (RS256) of the identity provider.' })),
  'x-spk': Type.Optional(Type.String({ description: 'Public JWK (EC P-256) of the device, as JSON.' })),
})

export const Item = Type.Object({
  id: id('item'),
  type: Type.String(),
  content: anyJson('The content as it was added. In a collection with a box: a compact JWE.'),
  author: nullable(Type.String()),
  approved: Type.Boolean(),
  archived: Type.Boolean(),
  hero: Type.Boolean(),
  access,
  created_at: Timestamp,
})

export const itemExample = {
  id: 'itm_4fRzK0vXcB1mQwErTy7uPa',
  type: 'message',
  content: { text: 'Happy birthday, old lighthouse!' },
  author: 'Ada',
  approved: true,
  archived: false,
  hero: false,
  access: 'owner',
  created_at: '2026-11-20T09:30:00.000Z',
}

/** An open item, as everyone with the publishable key sees it. */
export const OpenItem = Type.Object({
  id: Item.properties.id,
  type: Item.properties.type,
  content: anyJson('The content as it was added.'),
  author: Item.properties.author,
  hero: Item.properties.hero,
  created_at: Item.properties.created_at,
})

const itemType = Type.String({ pattern: '^[a-z0-9._-]{1,64}$', description: '1–64 characters of a-z 0-9 . _ -' })

/** E-mail addresses to grant or revoke. An empty list changes nothing. */
export const accounts = Type.Array(EmailAddress, { maxItems: limits.accessListEntries })

const { approved: _approved, archived: _archived, access: _access, ...openExample } = itemExample
export const openItemExample = openExample

const CurationPatch = closed(
  {
    approved: Type.Optional(Type.Boolean()),
    archived: Type.Optional(Type.Boolean()),
    hero: Type.Optional(Type.Boolean()),
    access: Type.Optional(access),
    grant: Type.Optional(accounts),
    revoke: Type.Optional(accounts),
  },
  { minProperties: 1 },
)

/** The filters of the owner's list and of the export. */
export const itemFilters = {
  type: Type.Optional(itemType),
  author: Type.Optional(Type.String({ minLength: 1, maxLength: 120, pattern: noNul, description: 'Exactly this author.' })),
  approved: Type.Optional(Type.Boolean()),
  archived: Type.Optional(Type.Boolean()),
  hero: Type.Optional(Type.Boolean()),
  access: Type.Optional(
    oneOf(['owner', 'open', 'email'], {
      description: 'Exactly this access. With `owner` and `approved=true`: what waits for a moderator who opens items.',
      'x-status': 'live',
    }),
  ),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'Added at this time or later.' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Added before this time.' })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: noNul,
      description:
        'Text in the JSON of the content or in the author, in upper or lower case. Content that is sealed is not readable.',
    }),
  ),
}

export const itemOperations = {
  listItems: operation({
    id: 'listItems',
    kind: 'read',
    method: 'GET',
    path: '/collections/{id}/items',
    status: 'live',
    tag: 'Items',
    summary: 'List all items',
    description:
      'A call reads a bounded number of items: with filters a page may hold fewer than `limit`, or none, and still have a next_cursor. ' +
      'Every item, oldest first, including items that are not approved or are archived, with their curation flags.',
    caller: 'publishable',
    roles: everyMember,
    capability: 'owner',
    params: collectionParams,
    query: closed({
      ...itemFilters,
      order: Type.Optional(
        oneOf(['newest', 'oldest'], { description: 'By the time at which they were added.', default: 'oldest' }),
      ),
      ...pageQuery,
    }),
    answers: {
      200: {
        description: 'A page of items.',
        data: Type.Object({
          id: id('collection'),
          state: oneOf(['open', 'ready', 'closed']),
          app_state: opaqueObject("The app's own state."),
          items: Type.Array(Item),
        }),
        paged: true,
      },
    },
    errors: ['invalid_cursor'],
    example: { data: { id: 'col_4fRzK0vXcB1mQwErTy7uPa', state: 'open', app_state: {}, items: [itemExample] } },
  }),
  listOpenItems: operation({
    id: 'listOpenItems',
    kind: 'read',
    method: 'GET',
    path: '/collections/{id}/items/open',
    status: 'live',
    tag: 'Items',
    summary: 'List the open items',
    description:
      'What visitors may read: items that are approved, not archived and have the access `open`. A collection whose `item_access` is `open` ' +
      'adds its items with that access; the owner can change it for each item. A box lists none.',
    caller: 'publishable',
    roles: everyMember,
    params: collectionParams,
    capability: 'optional',
    query: closed({
      order: Type.Optional(
        oneOf(['newest', 'oldest'], { description: 'By the time at which they were added.', default: 'newest' }),
      ),
      type: Type.Optional(itemType),
      ...pageQuery,
    }),
    answers: { 200: { description: 'A page of items.', data: Type.Array(OpenItem), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [openItemExample] },
  }),
  addItem: operation({
    id: 'addItem',
    kind: 'claimed',
    method: 'POST',
    path: '/collections/{id}/items',
    status: 'live',
    tag: 'Items',
    summary: 'Add an item',
    description:
      'A new item is approved at once, and its access is the item_access of the collection. With contributor_policy `token` the call needs the contributor or owner ' +
      'token. Outside state open: 409 `collection_not_open`. For a collection with a box the answer is {ok: true}: ' +
      'the content is sealed on arrival, unless the client sends it sealed as {type: "sealed", content: a compact ' +
      'JWE}.',
    caller: 'publishable',
    roles: moderators,
    capability: 'contributor',
    idempotency: 'accepted',
    params: collectionParams,
    body: closed({
      type: itemType,
      content: anyJson('Any JSON up to 64 KiB.'),
      author: Type.Optional(Type.String({ minLength: 1, maxLength: 120 })),
    }),
    answers: {
      201: {
        description: 'The id, or {ok: true} for a box.',
        data: Type.Object(
          { id: Type.Optional(id('item')), ok: Type.Optional(Type.Unsafe<true>({ type: 'boolean', const: true })) },
          { minProperties: 1, maxProperties: 1 },
        ),
      },
    },
    errors: ['collection_not_open'],
    example: {
      body: { type: 'message', content: { text: 'Happy birthday, old lighthouse!' }, author: 'Ada' },
      data: { id: itemExample.id },
    },
  }),
  getItem: operation({
    id: 'getItem',
    kind: 'read',
    method: 'GET',
    path: '/collections/{id}/items/{itemId}',
    status: 'live',
    tag: 'Items',
    summary: 'Read one item',
    description:
      'The owner token can read any item. Otherwise its access decides: `open` is for anyone; `email` needs ' +
      "X-Id-Token (a fresh ID token of the identity provider) and X-Spk (the device's public key as a JSON JWK, " +
      "whose thumbprint is the token's nonce), else 403 `not_authorized` with error.reason; `owner`: 404.",
    caller: 'publishable',
    roles: everyMember,
    capability: 'optional',
    params: itemParams,
    headers: identityHeaders,
    answers: { 200: { description: 'The item.', data: Item } },
    errors: ['not_authorized'],
    example: { data: itemExample },
  }),
  curateItem: operation({
    id: 'curateItem',
    kind: 'write',
    method: 'PATCH',
    path: '/collections/{id}/items/{itemId}',
    status: 'live',
    tag: 'Items',
    summary: 'Curate an item',
    description:
      'Sets curation flags or access. Setting hero clears the previous hero in the same transaction. `grant` and ' +
      '`revoke` are e-mail addresses, which are stored sealed. A revoked account gets error.reason `revoked`.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    params: itemParams,
    body: CurationPatch,
    answers: {
      200: { description: 'The item.', data: Type.Object({ ...GenericOk.properties, ...Item.properties }) },
    },
    example: { body: { archived: true }, data: { ok: true, ...itemExample, archived: true } },
  }),
  curateItems: operation({
    id: 'curateItems',
    kind: 'write',
    method: 'POST',
    path: '/collections/{id}/items/bulk',
    status: 'live',
    tag: 'Items',
    summary: 'Curate or delete many items',
    description:
      `Up to ${limits.bulkItems} items at once, with \`patch\` as for one item or with \`delete: true\`. All or nothing: an id that is not in the ` +
      'collection is 400 with a detail that names it, and nothing was changed. `hero: true` is for one item. Each item that changed has its ' +
      'own event.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    idempotency: 'accepted',
    params: collectionParams,
    body: closed({
      ids: Type.Array(id('item'), { minItems: 1, maxItems: limits.bulkItems, uniqueItems: true }),
      patch: Type.Optional(CurationPatch),
      delete: Type.Optional(Type.Unsafe<true>({ type: 'boolean', const: true })),
    }),
    answers: {
      200: {
        description: 'The outcome for each item, in the order of the ids.',
        data: Type.Object({
          results: Type.Array(Type.Object({ id: id('item'), status: oneOf(['updated', 'unchanged', 'deleted']) })),
        }),
      },
    },
    example: {
      body: { ids: [itemExample.id], patch: { approved: false } },
      data: { results: [{ id: itemExample.id, status: 'updated' }] },
    },
  }),
  deleteItem: operation({
    id: 'deleteItem',
    kind: 'write',
    method: 'DELETE',
    path: '/collections/{id}/items/{itemId}',
    status: 'live',
    tag: 'Items',
    summary: 'Delete an item',
    description: 'Deletes the item permanently.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    params: itemParams,
    answers: { 204: { description: 'Gone.' } },
  }),
}

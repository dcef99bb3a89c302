import { Type } from './type.ts'
import { collectionParams } from './collections.ts'
import {
  CurationPatch,
  identityHeaders,
  Item,
  itemExample,
  itemFilters,
  itemType,
  OpenItem,
  openItemExample,
} from './item-schemas.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { everyMember, moderators } from './roles.ts'
import { anyJson, closed, GenericOk, id, oneOf, opaqueObject, pageQuery } from './schemas.ts'

const itemParams = Type.Object({ ...collectionParams.properties, itemId: id('item') })

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

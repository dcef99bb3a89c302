import { limits } from './limits.ts'
import { anyJson, closed, EmailAddress, id, noNul, nullable, oneOf, Timestamp } from './schemas.ts'
import { Type } from './type.ts'

const accessKinds: ['owner', 'open', 'email'] = ['owner', 'open', 'email']

export const itemAccess = oneOf(accessKinds, {
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
  access: itemAccess,
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

export const itemType = Type.String({ pattern: '^[a-z0-9._-]{1,64}$', description: '1–64 characters of a-z 0-9 . _ -' })

/** E-mail addresses to grant or revoke. An empty list changes nothing. */
export const accounts = Type.Array(EmailAddress, { maxItems: limits.accessListEntries })

const { approved: _approved, archived: _archived, access: _access, ...openExample } = itemExample
export const openItemExample = openExample

export const CurationPatch = closed(
  {
    approved: Type.Optional(Type.Boolean()),
    archived: Type.Optional(Type.Boolean()),
    hero: Type.Optional(Type.Boolean()),
    access: Type.Optional(itemAccess),
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
    oneOf(accessKinds, {
      description: 'Only items with this access. `owner` with `approved=true`: the items that wait for a moderator to open them.',
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

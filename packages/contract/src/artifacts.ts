import { Type } from './type.ts'
import { collectionParams } from './collections.ts'
import { accounts, identityHeaders } from './item-schemas.ts'
import { operation } from './operation.ts'
import { everyMember, moderators } from './roles.ts'
import { closed, GenericOk, id, nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'

const artifactParams = Type.Object({ ...collectionParams.properties, artifactId: id('artifact') })
const kind = oneOf(['image', 'clip', 'card'])
const access = oneOf(['owner', 'open', 'email'], {
  description:
    'Who can see the artifact once it is published. owner: only the owner. open: anyone, also on the share page. ' +
    'email: the accounts it is granted to. Default: open.',
})

export const Artifact = Type.Object({
  id: id('artifact'),
  kind,
  source: oneOf(['url', 'paint', 'produce', 'upload']),
  url: nullable(Type.String({ description: 'Address of the bytes; null until they exist.' })),
  status: oneOf(['painting', 'ready', 'failed', 'quota_exceeded']),
  stage: oneOf(['uploading', 'queued', 'running', 'storing', 'done']),
  approved: Type.Boolean(),
  published: Type.Boolean(),
  hero: Type.Boolean(),
  archived: Type.Boolean(),
  access,
  title: Type.Optional(Type.String()),
  alt: Type.Optional(Type.String()),
  width: Type.Optional(Type.Integer({ description: 'Pixels.' })),
  height: Type.Optional(Type.Integer({ description: 'Pixels.' })),
  mime: Type.Optional(Type.String()),
  bytes: Type.Optional(Type.Integer()),
  sha256: Type.Optional(Type.String({ description: 'Hex.' })),
  provider: Type.Optional(
    Type.String({
      description:
        'Only for a finished painting: the provider that made it; `local` is the built-in painter. The same ' +
        '`provider`, `model` and `seed` repeat it.',
    }),
  ),
  model: Type.Optional(Type.String({ description: 'Only for a finished painting.' })),
  seed: Type.Optional(Type.Integer({ description: 'Only for a finished painting: the seed that was sent, or a random one.' })),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
  created_at: Timestamp,
})

const artifactExample = {
  id: 'art_4fRzK0vXcB1mQwErTy7uPa',
  kind: 'image',
  source: 'url',
  url: 'https://pictures.example/lantern-night.webp',
  status: 'ready',
  stage: 'done',
  approved: true,
  published: true,
  hero: true,
  archived: false,
  access: 'open',
  title: 'Lantern night',
  alt: 'A harbour at dusk under paper lanterns',
  created_at: '2026-11-20T09:30:00.000Z',
}

export const artifactOperations = {
  listArtifacts: operation({
    id: 'listArtifacts',
    kind: 'read',
    method: 'GET',
    path: '/collections/{id}/artifacts',
    status: 'live',
    tag: 'Artifacts',
    summary: 'List artifacts',
    description:
      'Oldest first. With the owner token: every artifact, with its status. Otherwise: artifacts that are ' +
      'published, approved, not archived and `open`. With X-Id-Token and X-Spk the list adds artifacts that are ' +
      'granted to that account; such a page may be shorter than `limit` with more to follow.',
    caller: 'publishable',
    roles: everyMember,
    capability: 'optional',
    params: collectionParams,
    query: PageQuery,
    headers: identityHeaders,
    answers: { 200: { description: 'A page of artifacts.', data: Type.Array(Artifact), paged: true } },
    errors: ['invalid_cursor', 'not_authorized'],
    example: { data: [artifactExample] },
  }),
  createArtifact: operation({
    id: 'createArtifact',
    kind: 'write',
    method: 'POST',
    path: '/collections/{id}/artifacts',
    status: 'live',
    tag: 'Artifacts',
    summary: 'Add an artifact by URL',
    description:
      'Attaches an output that is already hosted, at an https URL or a URL of this installation. The artifact is ' +
      'ready at once and not published.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    idempotency: 'accepted',
    params: collectionParams,
    body: closed({
      kind,
      url: Type.String({ minLength: 1, maxLength: 2_000, description: 'https' }),
      title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      alt: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
    }),
    answers: { 201: { description: 'The id.', data: Type.Object({ id: id('artifact') }) } },
    example: {
      body: { kind: 'image', url: artifactExample.url, title: artifactExample.title, alt: artifactExample.alt },
      data: { id: artifactExample.id },
    },
  }),
  getArtifact: operation({
    id: 'getArtifact',
    kind: 'read',
    method: 'GET',
    path: '/collections/{id}/artifacts/{artifactId}',
    status: 'live',
    tag: 'Artifacts',
    summary: 'Read an artifact',
    description:
      'The owner can read any artifact. Others need one that is published, approved and not archived, and its ' +
      'access decides: `open` is for anyone; `email` needs X-Id-Token and X-Spk, as for an item, else 403 ' +
      '`not_authorized` with error.reason; `owner` is 404.',
    caller: 'publishable',
    roles: everyMember,
    capability: 'optional',
    params: artifactParams,
    headers: identityHeaders,
    answers: { 200: { description: 'The artifact.', data: Artifact } },
    errors: ['not_authorized'],
    example: { data: artifactExample },
  }),
  curateArtifact: operation({
    id: 'curateArtifact',
    kind: 'write',
    method: 'PATCH',
    path: '/collections/{id}/artifacts/{artifactId}',
    status: 'live',
    tag: 'Artifacts',
    summary: 'Publish or curate an artifact',
    description:
      'The share page shows the published hero. Setting hero clears the previous hero in the same transaction. An ' +
      'artifact that is not approved, or is archived, is visible only to the owner even when published. `access` ' +
      'decides who can see it once it is published; the share page shows only `open` artifacts. `grant` and ' +
      '`revoke` are e-mail addresses, which are stored sealed. A revoked account gets error.reason `revoked`. `title` ' +
      'and `alt` can be changed at any time.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    params: artifactParams,
    body: closed(
      {
        published: Type.Optional(Type.Boolean()),
        hero: Type.Optional(Type.Boolean()),
        approved: Type.Optional(Type.Boolean()),
        archived: Type.Optional(Type.Boolean()),
        access: Type.Optional(access),
        grant: Type.Optional(accounts),
        revoke: Type.Optional(accounts),
        title: Type.Optional(
          nullable(Type.String({ minLength: 1, maxLength: 200, description: 'null removes it.', 'x-status': 'live' })),
        ),
        alt: Type.Optional(
          nullable(
            Type.String({
              minLength: 1,
              maxLength: 1_000,
              description: 'What the picture shows, for people who cannot see it; null removes it.',
              'x-status': 'live',
            }),
          ),
        ),
      },
      { minProperties: 1 },
    ),
    answers: {
      200: { description: 'The artifact.', data: Type.Object({ ...GenericOk.properties, ...Artifact.properties }) },
    },
    example: { body: { published: true, hero: true }, data: { ok: true, ...artifactExample, published: true, hero: true } },
  }),
  deleteArtifact: operation({
    id: 'deleteArtifact',
    kind: 'write',
    method: 'DELETE',
    path: '/collections/{id}/artifacts/{artifactId}',
    status: 'live',
    tag: 'Artifacts',
    summary: 'Delete an artifact',
    description: 'Deletes the artifact permanently, and its stored bytes within seconds.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    params: artifactParams,
    answers: { 204: { description: 'Gone.' } },
  }),
}

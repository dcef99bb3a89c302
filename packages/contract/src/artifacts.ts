import Type from 'typebox'
import { collectionParams } from './collections.ts'
import { accounts, identityHeaders } from './items.ts'
import { operation } from './operation.ts'
import { closed, GenericOk, id, nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'

const artifactParams = Type.Object({ ...collectionParams.properties, artifactId: id('artifact') })
const kind = oneOf(['image', 'clip', 'card'])
const access = oneOf(['owner', 'open', 'email'], {
  description:
    'Who sees it once it is published: the owner alone; anyone, also on the share page; or the accounts it was granted to. At first: open.',
})

export const Artifact = Type.Object({
  id: id('artifact'),
  kind,
  source: oneOf(['url', 'paint', 'produce', 'upload']),
  url: nullable(Type.String({ description: 'Where the bytes are; null until they exist.' })),
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
        'Of a paint that is ready: who painted it; `local` is the built-in painter. Sent with `model` and `seed` it is painted again.',
    }),
  ),
  model: Type.Optional(Type.String({ description: 'Of a paint that is ready.' })),
  seed: Type.Optional(Type.Integer({ description: 'Of a paint that is ready: the one that was sent, or else drawn.' })),
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
      'Oldest first. With the owner token every artifact with its status; otherwise those that are published, approved, not archived and ' +
      '`open`, and with X-Id-Token and X-Spk also those that were granted to that account: a page of these may be shorter than `limit` with ' +
      'more to follow.',
    caller: 'publishable',
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
    summary: 'Add an artifact by its address',
    description:
      "Attaches an output that is already hosted: an https address, or one under this installation's own public address. It is ready at once " +
      'and not published.',
    caller: 'publishable',
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
      'The owner reads any; others only what is published, approved and not archived, as its access allows: `open` anyone; `email` needs ' +
      'X-Id-Token and X-Spk as an item does, else 403 `not_authorized` with error.reason; `owner`: 404.',
    caller: 'publishable',
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
      'A published hero is what the share page shows. Setting hero clears the hero before it, in the same transaction. An artifact that is ' +
      'not approved, or archived, is hidden from everyone but the owner even when published. `access` says who sees it once it is published; ' +
      'the share page shows only what is `open`. `grant` and `revoke` are e-mail addresses, kept sealed; a revoked account is told so.',
    caller: 'publishable',
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
      },
      { minProperties: 1 },
    ),
    answers: { 200: { description: 'Done.', data: GenericOk } },
    example: { body: { published: true, hero: true }, data: { ok: true } },
  }),
  deleteArtifact: operation({
    id: 'deleteArtifact',
    kind: 'write',
    method: 'DELETE',
    path: '/collections/{id}/artifacts/{artifactId}',
    status: 'live',
    tag: 'Artifacts',
    summary: 'Delete an artifact',
    description: 'Removes the artifact for good, and within seconds all that is stored of it.',
    caller: 'publishable',
    capability: 'owner',
    params: artifactParams,
    answers: { 204: { description: 'Gone.' } },
  }),
}

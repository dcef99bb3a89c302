import Type, { type Static } from 'typebox'
import { Artifact, artifactOperations } from './artifacts.ts'
import { collectionParams } from './collections.ts'
import { identityHeaders } from './items.ts'
import { operation } from './operation.ts'
import { closed, credential, id, oneOf, Timestamp } from './schemas.ts'
import { providers } from './provider-keys.ts'

const artifactParams = artifactOperations.getArtifact.params
const artifactExample = artifactOperations.getArtifact.example.data
const title = Type.String({ minLength: 1, maxLength: 200 })
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, lower-case hex.' })

/** Bytes of an upload, at the most. */
export const uploadMaxBytes = 100 * 1024 * 1024

/** What may be uploaded. No SVG and no HTML: they can carry scripts, and are served from our origin. */
const mime = oneOf(['image/png', 'image/jpeg', 'image/webp', 'image/avif', 'image/gif', 'video/mp4', 'video/webm'])

export type UploadMime = Static<typeof mime>

const Started = Type.Object({ id: id('artifact'), status: Type.Unsafe<'painting'>({ type: 'string', const: 'painting' }) })
const startedExample = { id: artifactExample.id, status: 'painting' }

export const makingOperations = {
  paintArtifact: operation({
    id: 'paintArtifact',
    kind: 'write',
    method: 'POST',
    path: '/collections/{id}/paint',
    status: 'live',
    tag: 'Artifacts',
    summary: 'Paint an image',
    description:
      'Starts painting and answers at once; poll the artifact until its status is `ready`, `failed` or `quota_exceeded`. Without a key for ' +
      'the provider the built-in painter draws, the same picture for the same prompt, size and seed. Without a seed one is drawn; the artifact ' +
      'shows it. With publishable keys an address and a collection may paint 200 times a day each, and all of them together use a tenth of the ' +
      'month’s allowance a day, unless those who run this installation set other limits: beyond that 429 `rate_limited`. Where the quota of stored ' +
      'bytes is used up: 413 `quota_exceeded`. A used-up provider quota or monthly ' +
      'allowance (of paints without a coupon) ends as `quota_exceeded`, other failures as `failed` with a code. A coupon is held at the start, captured when the ' +
      'artifact is ready, released otherwise. The picture is copied into our storage. Beyond 200 artifacts of a tenant that wait or are being ' +
      'made: 429 with `Retry-After`.',
    caller: 'publishable',
    capability: 'owner',
    idempotency: 'required',
    params: collectionParams,
    body: closed({
      prompt: Type.String({ minLength: 1, maxLength: 4_000 }),
      size: Type.Optional(
        oneOf(['1024x1024', '1536x1024', '1024x1536'], { default: '1024x1024', description: 'Width × height in pixels.' }),
      ),
      provider: Type.Optional(oneOf([...providers, 'local'], { description: 'Absent: the first one with a key, else local.' })),
      model: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "The provider's name of the model." })),
      seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })),
      coupon: Type.Optional(credential('A coupon (cpn_…) or wallet code (wlt_…) that pays.')),
    }),
    answers: { 202: { description: 'Painting has started.', data: Started } },
    errors: ['insufficient_credit', 'quota_exceeded'],
    example: { body: { prompt: 'A harbour at dusk under paper lanterns', size: '1536x1024', seed: 7 }, data: startedExample },
  }),
  produceArtifact: operation({
    id: 'produceArtifact',
    kind: 'write',
    method: 'POST',
    path: '/collections/{id}/produce',
    status: 'live',
    tag: 'Artifacts',
    summary: 'Produce a card or a clip',
    description:
      'Makes an artifact out of what the collection holds and answers at once; poll the artifact as after painting. A card is a 1200×630 PNG ' +
      'set with real type; a clip is an animated WebP of the chosen images, in the order given. An item or artifact that is not of this ' +
      'collection is 400. Absent `items` and `artifacts`: the heroes. A picture may have up to 64 MiB, one that is hosted elsewhere 16 MiB; ' +
      'with a larger one the artifact fails with `picture_too_large`. Beyond 200 artifacts of a tenant that wait or are being made: 429 with ' +
      '`Retry-After`. Where the quota of stored bytes is used up: 413 `quota_exceeded`.',
    caller: 'publishable',
    capability: 'owner',
    idempotency: 'accepted',
    params: collectionParams,
    body: closed({
      kind: oneOf(['card', 'clip']),
      title: Type.Optional(title),
      items: Type.Optional(Type.Array(id('item'), { maxItems: 50 })),
      artifacts: Type.Optional(Type.Array(id('artifact'), { maxItems: 50 })),
      template: Type.Optional(
        Type.String({ pattern: '^[a-z0-9-]{1,64}$', description: 'Name of a built-in layout; absent: the default one.' }),
      ),
    }),
    answers: { 202: { description: 'Production has started.', data: Started } },
    errors: ['quota_exceeded'],
    example: { body: { kind: 'card', title: 'Lantern night' }, data: startedExample },
  }),
  uploadArtifact: operation({
    id: 'uploadArtifact',
    kind: 'write',
    method: 'POST',
    path: '/collections/{id}/artifacts/upload',
    status: 'live',
    tag: 'Artifacts',
    summary: 'Begin an upload',
    description:
      'Answers with a presigned address for the bytes: send them there with the method and headers given, then call `ready`; both halves are ' +
      'required. Type and length are signed, so that nothing else can be stored. An upload that is not completed before `expires_at` is ' +
      'removed, and the artifact with it. Of a collection 100 may be under way at once, of a tenant 1,000 and 20 GiB in all; beyond that it is ' +
      '429 `rate_limited`. What a tenant stores and has announced is 20 GiB at the most, and an address announces at most 1 GiB a day with ' +
      'publishable keys, unless those who run this installation set other limits: beyond that 413 `quota_exceeded`. A `clip` may be of any of the types, the other kinds are images. A picture may have up to ' +
      '51,200,000 pixels and 20,000 on a side; an animation (GIF, WebP) up to 300 frames and 100,000,000 pixels in all of them together. One ' +
      'that is decoded at once takes more memory a pixel and may have fewer: an AVIF 14,900,000, a progressive JPEG of the full size must be ' +
      'upright. An animated AVIF is not taken, and of an animated PNG its first frame stays.',
    caller: 'publishable',
    capability: 'owner',
    idempotency: 'accepted',
    params: collectionParams,
    body: closed({
      kind: artifactOperations.createArtifact.body.properties.kind,
      mime,
      bytes: Type.Integer({ minimum: 1, maximum: uploadMaxBytes, description: 'The exact length.' }),
      sha256: Type.Optional(sha256),
    }),
    answers: {
      201: {
        description: 'The artifact, and where its bytes go.',
        data: Type.Object({
          id: id('artifact'),
          upload: Type.Object({
            method: Type.Unsafe<'PUT'>({ type: 'string', const: 'PUT' }),
            url: Type.String(),
            headers: Type.Unsafe<Record<string, string>>({
              type: 'object',
              additionalProperties: { type: 'string' },
              description: 'To be sent exactly as they are.',
            }),
            expires_at: Timestamp,
          }),
        }),
        oneTimeSecret: true,
      },
    },
    errors: ['quota_exceeded'],
    example: {
      body: { kind: 'image', mime: 'image/webp', bytes: 48_213 },
      data: {
        id: artifactExample.id,
        upload: {
          method: 'PUT',
          url: 'https://storage.example/atrium/art_4fRz…?signature=…',
          headers: { 'content-type': 'image/webp', 'content-length': '48213' },
          expires_at: '2026-11-20T09:45:00.000Z',
        },
      },
    },
  }),
  markArtifactReady: operation({
    id: 'markArtifactReady',
    kind: 'read',
    method: 'POST',
    path: '/collections/{id}/artifacts/{artifactId}/ready',
    status: 'live',
    tag: 'Artifacts',
    summary: 'Complete an upload',
    description:
      'Checks that the bytes are there, their length, their hash and their real type (read off the bytes), and makes the artifact `ready`. ' +
      'Of a picture nothing but the picture is kept: EXIF (with the place where it was taken), XMP, IPTC and comments go; JPEG and PNG are ' +
      'written anew, upright and in sRGB; WebP, GIF and AVIF keep their coded pixels. `bytes` and `sha256` are then those of what is served, ' +
      '`width` and `height` as it is shown. A video is kept as it came. A mismatch is 409 `upload_mismatch`: the bytes are removed and the ' +
      'artifact is `failed`. As long as nothing has arrived it is the same code, and the upload stays open. On an upload that is ready ' +
      'already it changes nothing; on an artifact that was not uploaded it is 409 `state_conflict`. Where too many wait: 503 with ' +
      '`Retry-After`; where the picture has grown beyond the quota of stored bytes: 413 `quota_exceeded`. The upload then stays as it is.',
    caller: 'publishable',
    capability: 'owner',
    params: artifactParams,
    answers: { 200: { description: 'The artifact.', data: Artifact } },
    errors: ['state_conflict', 'upload_mismatch', 'quota_exceeded'],
    example: { data: { ...artifactExample, source: 'upload', mime: 'image/webp', bytes: 48_213 } },
  }),
  getMedia: operation({
    id: 'getMedia',
    kind: 'stream',
    method: 'GET',
    path: '/media/{artifactId}',
    status: 'live',
    tag: 'Artifacts',
    summary: 'The bytes of an artifact',
    description:
      'Without a credential once the artifact is published, approved, not archived and `open`; with X-Id-Token and X-Spk once it is `email` ' +
      'instead and granted to that account, else 403 `not_authorized`; otherwise X-Collection-Token must be the owner token of its collection, ' +
      'else 404. Answers with a strong ETag, `Accept-Ranges: bytes` and, where anyone may see it, `Cache-Control: public, ' +
      'max-age=31536000, immutable`, else `private, no-store`. A range that lies beyond the end, or more than one, is answered with the whole. With `w` a picture comes ' +
      'that wide, as a still: never enlarged, and never more than twice as high as `w`, so that a tall one comes narrower. It is made when the ' +
      'first one asks; where too many wait: 503 with `Retry-After`. A video with `w` is 400.',
    caller: 'anyone',
    capability: 'optional',
    params: Type.Object({ artifactId: id('artifact') }),
    query: closed({
      w: Type.Optional(
        Type.Unsafe<320 | 640 | 1280 | 1920>({ type: 'integer', enum: [320, 640, 1280, 1920], description: 'Width in pixels.' }),
      ),
      format: Type.Optional(
        oneOf(['webp', 'avif'], { default: 'webp', description: 'With `w`: the type of the smaller picture.' }),
      ),
    }),
    headers: Type.Object({
      ...identityHeaders.properties,
      range: Type.Optional(Type.String({ maxLength: 200, description: 'One byte range (RFC 9110).' })),
      'if-range': Type.Optional(
        Type.String({ maxLength: 200, description: 'The ETag that the range is of, else the whole comes.' }),
      ),
      'if-none-match': Type.Optional(Type.String({ maxLength: 1_000, description: 'ETags that the caller has.' })),
    }),
    answers: {
      200: {
        description: 'The bytes.',
        data: Type.Unsafe<Uint8Array>({ description: 'The bytes, with their own type.' }),
        raw: '*/*',
      },
      206: {
        description: 'The range of bytes that was asked for.',
        data: Type.Unsafe<Uint8Array>({ description: 'Some bytes.' }),
        raw: '*/*',
      },
      304: { description: 'The caller has it already.' },
    },
    errors: ['not_authorized'],
  }),
}

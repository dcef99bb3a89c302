import type { Static } from 'typebox'
import { Type } from './type.ts'
import { Artifact, artifactOperations } from './artifacts.ts'
import { collectionParams } from './collections.ts'
import { identityHeaders } from './item-schemas.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { moderators } from './roles.ts'
import { closed, credential, id, oneOf, Timestamp } from './schemas.ts'
import { providers } from './provider-keys.ts'

const artifactParams = artifactOperations.getArtifact.params
const artifactExample = artifactOperations.getArtifact.example.data
const title = Type.String({ minLength: 1, maxLength: 200 })
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, lower-case hex.' })

/**
 * The types that may be uploaded. SVG and HTML are excluded, because they can contain scripts and would be served from
 * our origin.
 */
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
      'Starts painting and returns at once. Poll the artifact until its status is `ready`, `failed` or ' +
      '`quota_exceeded`.\n\n' +
      'Without a key for the provider the built-in painter draws: the same picture for the same ' +
      'prompt, size and seed. Without a seed a random one is chosen; the artifact contains it.\n\n' +
      'With publishable ' +
      'keys each IP address and each collection may paint 200 times a day, and together they may use a tenth of ' +
      'the monthly allowance per day, unless the operator sets other limits; beyond that the answer is 429 ' +
      '`rate_limited`. If the quota of stored bytes is used up, it is 413 `quota_exceeded`.\n\n' +
      'A used-up provider ' +
      'quota or monthly allowance (of paintings without a coupon) ends as `quota_exceeded`, other failures as ' +
      '`failed` with a code.\n\n' +
      'The price is held on the coupon at the start, captured when the artifact is ready, ' +
      'and released otherwise. The picture is copied into our storage. Beyond 200 artifacts of a tenant that are ' +
      'queued or being made: 429 with `Retry-After`.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    idempotency: 'required',
    params: collectionParams,
    body: closed({
      prompt: Type.String({ minLength: 1, maxLength: 4_000 }),
      size: Type.Optional(
        oneOf(['1024x1024', '1536x1024', '1024x1536'], { default: '1024x1024', description: 'Width × height in pixels.' }),
      ),
      provider: Type.Optional(
        oneOf([...providers, 'local'], { description: 'Default: the first provider with a key, else local.' }),
      ),
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
      'Makes an artifact from the contents of the collection and returns at once. Poll the artifact as after ' +
      'painting.\n\n' +
      'A card is a 1200×630 PNG set with real type; a clip is an animated WebP of the chosen images, in ' +
      'the order given. An item or artifact that is not of this collection is 400. Without `items` and `artifacts` ' +
      'the heroes are used.\n\n' +
      'A picture may have up to 64 MiB, and 16 MiB if it is hosted elsewhere; with a larger ' +
      'one the artifact fails with `picture_too_large`. Beyond 200 artifacts of a tenant that wait or are being ' +
      'made: 429 with `Retry-After`. If the quota of stored bytes is used up, it is 413 `quota_exceeded`.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    idempotency: 'accepted',
    params: collectionParams,
    body: closed({
      kind: oneOf(['card', 'clip']),
      title: Type.Optional(title),
      items: Type.Optional(Type.Array(id('item'), { maxItems: 50 })),
      artifacts: Type.Optional(Type.Array(id('artifact'), { maxItems: 50 })),
      template: Type.Optional(
        Type.String({ pattern: '^[a-z0-9-]{1,64}$', description: 'Name of a built-in layout. Absent: the default layout.' }),
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
      'Returns a presigned URL for the bytes. Send them there with the returned method and headers, then call ' +
      '`ready`; both steps are required. Type and length are signed, so that nothing else can be stored.\n\n' +
      'An upload ' +
      'that is not completed before `expires_at` is removed together with its artifact.\n\n' +
      'A collection can have 100 open uploads, and a tenant 1,000 with 20 GiB in total. With publishable keys, an IP ' +
      'address can have at most as many as remain free for others. Beyond that the answer is 429 `rate_limited`. A tenant ' +
      'can store and announce 20 GiB in total, and an IP address can announce 1 GiB per day with publishable keys, ' +
      'unless the operator sets other limits; beyond that the answer is 413 `quota_exceeded`.\n\n' +
      'A `clip` may have ' +
      'any of the types; the other kinds are images. A picture may have up to 51,200,000 pixels and 20,000 on a ' +
      'side; an animation (GIF, WebP) up to 300 frames with 100,000,000 pixels in total.\n\n' +
      'Formats that are decoded ' +
      'as a whole need more memory per pixel and have lower limits: an AVIF may have 14,900,000 pixels, and a ' +
      'progressive JPEG of the full size must be upright. An animated AVIF is rejected, and only the first frame ' +
      'of an animated PNG is kept.',
    caller: 'publishable',
    roles: moderators,
    capability: 'owner',
    idempotency: 'accepted',
    params: collectionParams,
    body: closed({
      kind: artifactOperations.createArtifact.body.properties.kind,
      mime,
      bytes: Type.Integer({ minimum: 1, maximum: limits.uploadBytes, description: 'The exact length.' }),
      sha256: Type.Optional(sha256),
      title: Type.Optional(Type.String({ minLength: 1, maxLength: 200, 'x-status': 'live' })),
      alt: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 1_000,
          description: 'What the picture shows, for people who cannot see it.',
          'x-status': 'live',
        }),
      ),
    }),
    answers: {
      201: {
        description: 'The artifact, and the upload request for its bytes.',
        data: Type.Object({
          id: id('artifact'),
          upload: Type.Object({
            method: Type.Unsafe<'PUT'>({ type: 'string', const: 'PUT' }),
            url: Type.String(),
            headers: Type.Unsafe<Record<string, string>>({
              type: 'object',
              additionalProperties: { type: 'string' },
              description: 'Send them unchanged.',
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
      'Checks the length, the hash and the real type of the uploaded bytes (detected from the bytes), and makes ' +
      'the artifact `ready`. A picture loses its metadata: EXIF (with the location), XMP, IPTC and comments are ' +
      'removed; JPEG and PNG are re-encoded, upright and in sRGB; WebP, GIF and AVIF keep their coded pixels.\n\n' +
      '`bytes` and `sha256` then describe the served file, and `width` and `height` the displayed picture. A video ' +
      'is stored unchanged.\n\n' +
      'A mismatch is 409 `upload_mismatch`: the bytes are removed and the artifact is ' +
      '`failed`. If no bytes have arrived yet, the code is the same and the upload stays open. On an upload that ' +
      'is ready already it changes nothing; on an artifact that was not uploaded it is 409 `state_conflict`.\n\n' +
      'If ' +
      'the queue is full, the answer is 503 with `Retry-After`; if the re-encoded picture exceeds the quota of ' +
      'stored bytes, it is 413 `quota_exceeded`. In both cases the upload is unchanged.',
    caller: 'publishable',
    roles: moderators,
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
      'Needs no credential once the artifact is published, approved, not archived and `open`. If it is `email` ' +
      'instead, it needs X-Id-Token and X-Spk of a granted account, else 403 `not_authorized`. Otherwise ' +
      'X-Collection-Token must be the owner token of its collection, else 404. A session of the console of its tenant ' +
      'takes the place of that token.\n\n' +
      'The response has a strong ETag, ' +
      '`Accept-Ranges: bytes` and, for an artifact that anyone may see, `Cache-Control: public, max-age=31536000, ' +
      'immutable`, else `private, no-store`. A range beyond the end, or several ranges, return the whole file.\n\n' +
      'With `w` a picture is returned at that width, as a still image: never enlarged, and never higher than twice ' +
      '`w`, so a tall picture is narrower. It is rendered on the first request. If that takes too long, or the queue is ' +
      'full, the answer is the original, with `Cache-Control: private, no-store`. A video with `w` is 400.',
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
        Type.String({
          maxLength: 200,
          description: 'The ETag that the range belongs to. With another ETag the whole file is returned.',
        }),
      ),
      'if-none-match': Type.Optional(Type.String({ maxLength: 1_000, description: 'ETags that the caller has.' })),
    }),
    answers: {
      200: {
        description: 'The bytes.',
        data: Type.Unsafe<Uint8Array>({ description: 'The bytes. Content-Type is the type of the artifact.' }),
        raw: '*/*',
      },
      206: {
        description: 'The requested range of bytes.',
        data: Type.Unsafe<Uint8Array>({ description: 'Some bytes.' }),
        raw: '*/*',
      },
      304: { description: 'Not modified.' },
    },
    errors: ['not_authorized'],
  }),
}

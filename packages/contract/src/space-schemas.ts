import type { Static, TProperties } from 'typebox'
import { Type } from './type.ts'
import { closed, EmailAddress, id, oneOf, Timestamp } from './schemas.ts'

const room = Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' })
const mk = Type.String({
  minLength: 22,
  maxLength: 512,
  pattern: '^[!-~]+$',
  description: 'The room key: at least 128 bits, printable ASCII without spaces.',
})
const etag = Type.String({ description: 'SHA-256 of the last line, which commits to the whole history.' })
const count = Type.Integer({ minimum: 0, description: 'Lines of the room.' })
const policy = oneOf(['open', 'email'], {
  description: 'open: anyone with the link. email: the accounts and agents on its list.',
})
const title = Type.String({ minLength: 1, maxLength: 200 })
const guestName = Type.String({
  minLength: 1,
  maxLength: 60,
  description: 'The name that a guest claims; nobody verifies it. Callers with an idToken have the name in it.',
})
const emails = Type.Array(EmailAddress, { maxItems: 1_000 })
const agents = Type.Array(id('agent'), { maxItems: 100, description: 'Agents to admit.' })
const ok = Type.Unsafe<true>({ type: 'boolean', const: true })

export const Spk = Type.Unsafe<{ kty: 'EC'; crv: 'P-256'; x: string; y: string }>({
  type: 'object',
  required: ['kty', 'crv', 'x', 'y'],
  properties: {
    kty: { type: 'string', const: 'EC' },
    crv: { type: 'string', const: 'P-256' },
    x: { type: 'string', maxLength: 64 },
    y: { type: 'string', maxLength: 64 },
  },
  description: "The device's signing key, public part only. Other members are ignored.",
})

/** The identity of the caller. Required in rooms with a list. */
const identity = {
  idToken: Type.Optional(
    Type.String({
      maxLength: 16_384,
      description:
        'A fresh ID token (RS256) whose nonce is the thumbprint of spk: of the identity provider for an account, ' +
        'of the API origin for an agent.',
    }),
  ),
  spk: Type.Optional(Spk),
  proof: Type.Optional(
    Type.String({
      maxLength: 4_096,
      description:
        'Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message ' +
        'as JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll, ' +
        'the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof, signature) as ' +
        'canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending it again ' +
        'changes nothing.',
    }),
  ),
}

function op<const Name extends string, P extends TProperties>(name: Name, properties: P) {
  return closed({ op: Type.Unsafe<Name>({ type: 'string', const: name }), ...properties })
}

const message = closed({
  text: Type.String({ minLength: 1, maxLength: 16_384, description: 'Up to 16 KiB: 16,384 bytes of UTF-8.' }),
  reply_to: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'id of an entry.' })),
  client_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'A repeat with the same one is stored once.' }),
  ),
})

export const SpacePoll = op('poll', {
  room,
  mk,
  sinceEtag: Type.Optional(Type.String({ maxLength: 128, description: 'etag of the previous answer; empty at first.' })),
  sinceCount: Type.Optional(Type.Integer({ minimum: 0, description: 'count of the previous answer; 0 at first.' })),
  waitMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 25_000,
      description:
        'Milliseconds to wait for new lines (long polling). For a room that does not exist, or when too many polls ' +
        'are waiting, the answer comes at once: poll again after a pause.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      description: 'The largest number of lines. A page of large lines ends earlier, see count.',
    }),
  ),
  ...identity,
})
export const SpaceTurn = op('turn', { room, mk, message, name: Type.Optional(guestName), ...identity })
export const SpaceSealed = op('sealed', { room })
export const SpaceAttest = op('attest', { nonce: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })) })
export const SpaceCreate = op('create', {
  room,
  mk,
  policy,
  allow: Type.Optional(emails),
  agents: Type.Optional(agents),
  title: Type.Optional(title),
  require_proof: Type.Optional(Type.Boolean()),
  ...identity,
})
export const SpaceAdmit = op('admit', { room, mk, emails: Type.Optional(emails), agents: Type.Optional(agents), ...identity })
export const SpaceExpel = op('expel', { room, mk, emails: Type.Optional(emails), agents: Type.Optional(agents), ...identity })
export const SpaceRename = op('rename', { room, mk, title, ...identity })
export const SpaceRemove = op('remove', { room, mk, ...identity })

const line = Type.String({
  pattern:
    '^\\{"protected":"[A-Za-z0-9_-]+",("encrypted_key":"[A-Za-z0-9_-]+",|"recipients":\\[[A-Za-z0-9_+{}":,-]+\\],)?' +
    '"iv":"[A-Za-z0-9_-]{16}","ciphertext":"[A-Za-z0-9_-]+","tag":"[A-Za-z0-9_-]{22}"\\}$',
  description:
    'A JWE as flattened JSON (RFC 7516), or as general JSON for a line with the list of devices, in exactly this spelling. The service stores it with `"unprotected":{"seq":n,"prev":"…"}` ' +
    'behind its first member: its number, and the hash of the line before it (absent on line 0). Up to 64 KiB.',
})
const signature = Type.String({
  maxLength: 1_024,
  description:
    'Compact JWS with the header {alg: "EdDSA", typ: "atrium-room+jws"} by the access key over {aud, htm, op, room, iat, sha256}: ' +
    'the origin of the Space service, POST, the op, the room, the time in seconds, and the SHA-256 (base64url) of the other ' +
    'members of the request as canonical JSON (RFC 8785). It is valid for five minutes before and after iat.',
})
/** Required in rooms with a list of devices. */
const device = { spk: identity.spk, proof: identity.proof }
export const SpaceMake = op('make', {
  room,
  access: Type.String({
    pattern: '^[A-Za-z0-9_-]{43}$',
    description: 'The public access key of the room: Ed25519, the x of its JWK.',
  }),
  line,
  ...device,
  signature,
})
export const SpaceRead = op('read', {
  room,
  sinceEtag: SpacePoll.properties.sinceEtag,
  sinceCount: SpacePoll.properties.sinceCount,
  waitMs: SpacePoll.properties.waitMs,
  limit: SpacePoll.properties.limit,
  ...device,
  signature,
})
export const SpaceAppend = op('append', {
  room,
  line,
  dedupe: Type.String({
    pattern: '^[A-Za-z0-9_-]{22,86}$',
    description: 'A random value. A repeat with the same one is stored once, and answered with the number of the stored line.',
  }),
  ...device,
  signature,
})

export const SpaceEntry = Type.Object({
  seq: Type.Integer({ description: 'Number of the line.' }),
  id: Type.String(),
  at: Timestamp,
  author: Type.Object({
    kind: oneOf(['anonymous', 'account', 'agent']),
    id: Type.Optional(id('agent', 'Only for an agent: its id.')),
    name: Type.Optional(Type.String({ description: 'Of kind anonymous: only claimed. Nobody verifies it.' })),
    email: Type.Optional(Type.String({ description: 'Only for an account: its e-mail address.' })),
    key: Type.Optional(Type.String({ description: 'Thumbprint of the device key.' })),
    proven: Type.Optional(Type.Boolean({ description: 'The message had a valid proof by the device key.' })),
  }),
  message: Type.Object({
    text: Type.String(),
    reply_to: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String({ description: 'Returned only to the author: the caller with the same spk.' })),
  }),
})

export const SpacePollAnswer = Type.Object({ etag, count, entries: Type.Array(SpaceEntry), policy, title: Type.Optional(title) })
export const SpaceTurnAnswer = Type.Object({ ok, seq: Type.Integer(), id: Type.String(), at: Timestamp, etag, count })
export const SpaceReadAnswer = Type.Object({
  etag,
  count,
  lines: Type.Array(Type.String(), { description: 'The stored lines, unchanged. The reader checks their chain.' }),
})
export const SpaceAppendAnswer = Type.Object({ ok, seq: Type.Integer(), etag, count })
export const SpaceSealedAnswer = Type.Object({
  alg: Type.Unsafe<'A256GCM'>({ type: 'string', const: 'A256GCM' }),
  bytes: Type.Integer({ description: 'Length of sealed in UTF-8.' }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of exactly the string sealed, as UTF-8.' }),
  recipients: Type.Array(Type.String(), {
    description:
      'Who can decrypt, as read from the stored lines. room: the room key. unnamed: recipients without a name of up to 128 ' +
      'characters, or after 10,000 others.',
  }),
  sealed: Type.String({ description: 'The records, one per line of text, each a JWE in general JSON form (RFC 7516).' }),
})
export const SpaceAttestAnswer = Type.Object({
  service: Type.String(),
  gitCommit: Type.String(),
  runtime: Type.String(),
  signed: Type.Optional(Type.String({ description: 'With nonce: the exact text that was signed.' })),
  sig: Type.Optional(Type.String({ description: "ES256 by the certificate's key." })),
})
export const SpaceChanged = Type.Object({ ok, etag: Type.Optional(etag), count: Type.Optional(count) })

const requests = [
  SpacePoll,
  SpaceTurn,
  SpaceSealed,
  SpaceAttest,
  SpaceCreate,
  SpaceAdmit,
  SpaceExpel,
  SpaceRename,
  SpaceRemove,
  SpaceMake,
  SpaceRead,
  SpaceAppend,
] as const
const answers = [
  SpacePollAnswer,
  SpaceTurnAnswer,
  SpaceSealedAnswer,
  SpaceAttestAnswer,
  SpaceChanged,
  SpaceReadAnswer,
  SpaceAppendAnswer,
] as const

export const SpaceRequest = Type.Unsafe<Static<(typeof requests)[number]>>({ oneOf: requests })
export const SpaceAnswer = Type.Unsafe<Static<(typeof answers)[number]>>({ anyOf: answers })

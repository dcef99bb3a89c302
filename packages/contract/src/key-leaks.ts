import { Type } from './type.ts'
import { operation } from './operation.ts'
import { analysts, owners } from './roles.ts'
import { closed, id, noNul, nullable, oneOf, pageQuery, Timestamp } from './schemas.ts'

/** Fields that GitHub may add are accepted, because the format is theirs. */
const FoundToken = Type.Object({
  token: Type.String({ description: 'What was found.' }),
  type: Type.String({ description: 'The name of the pattern that found it. Returned as `token_type`.' }),
  url: Type.Optional(Type.String({ pattern: noNul, description: 'Where it was found; empty: unknown.' })),
  source: Type.Optional(Type.String({ pattern: noNul, description: 'In what it was found, such as `commit`.' })),
})

const Verdict = Type.Object({
  token_hash: Type.String({ description: 'The SHA-256 of the token, in hexadecimal.' }),
  token_type: Type.String(),
  label: oneOf(['true_positive', 'false_positive']),
})

const header = (description: string) => Type.String({ minLength: 1, maxLength: 500, description })

const action = oneOf(['revoke', 'notify'], {
  description: 'revoke: a reported key is revoked at once. notify: it stays valid, and you are told.',
})
const Policy = Type.Object({ action })

const outcome = oneOf(['revoked', 'notified', 'ended'], {
  description: 'revoked: by the report. notified: the key stayed valid. ended: it had been revoked or had expired before.',
})

const KeyLeak = Type.Object({
  key_id: id('key'),
  key_name: nullable(Type.String()),
  key_hint: Type.String({ description: 'The prefix and the last four characters.' }),
  action: outcome,
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  places: Type.Array(
    Type.Object({
      url: nullable(Type.String({ description: 'As it was reported. Not checked.' })),
      source: nullable(Type.String()),
      first_seen_at: Timestamp,
    }),
    { description: 'Where the key was found, the first 20 places.' },
  ),
  requests: Type.Object(
    {
      count: Type.Integer({ minimum: 0 }),
      since: nullable(Type.String({ format: 'date-time', description: 'The oldest of these requests.' })),
      last_at: nullable(Timestamp),
      origins: Type.Array(Type.Object({ origin: nullable(Type.String()), count: Type.Integer({ minimum: 1 }) }), {
        description: 'By the Origin header, the ten with the most requests. null: servers.',
      }),
      last: Type.Array(
        Type.Object({
          request_id: id('request'),
          created_at: Timestamp,
          method: Type.String(),
          path: Type.String(),
          status: Type.Integer({ minimum: 100, maximum: 599 }),
          origin: nullable(Type.String()),
        }),
        { description: 'The last five requests, newest first.' },
      ),
      searched_from: nullable(
        Type.String({
          format: 'date-time',
          description: 'Older requests were not searched, because there are many. null: the whole log was searched.',
        }),
      ),
    },
    { description: 'What the request log has of this key. Requests with a revoked key are refused and not logged.' },
  ),
})

const policyExample = { action: 'revoke' as const }
const at = '2026-11-20T09:30:00.000Z'

export const keyLeakOperations = {
  reportLeakedKeys: operation({
    id: 'reportLeakedKeys',
    kind: 'read',
    method: 'POST',
    path: '/tenant/keys/leaks',
    status: 'live',
    tag: 'Keys',
    summary: 'Report leaked keys',
    description:
      'For the secret scanning of GitHub, in the format of its partner program: the body is signed with a key that GitHub ' +
      'publishes (ECDSA P-256 and SHA-256 over the bytes of the body). Needs no tenant key.\n\n' +
      'A secret key is revoked, unless its tenant chose `notify`, and the tenant gets the event `key.leaked`. The token of an ' +
      'operator credential is revoked. Publishable keys are public and never revoked. A report may be repeated: what it has ' +
      'done is not done twice.\n\n' +
      'The answer has an entry for each entry of the body, in its order. `true_positive`: a credential of Atrium that should ' +
      'not be public.',
    caller: 'anyone',
    audited: true,
    headers: Type.Object({
      'github-public-key-identifier': header('Which published key signed the body.'),
      'github-public-key-signature': header('The signature: base64 of its DER form.'),
    }),
    body: Type.Array(FoundToken, { minItems: 1 }),
    answers: {
      200: { description: 'What each token is.', data: Type.Array(Verdict), raw: 'application/json' },
    },
    errors: ['unauthorized'],
    example: {
      body: [
        {
          token: 'wsk_…',
          type: 'atrium_secret_key',
          url: 'https://github.com/octocat/Hello-World/blob/12345600b9cbe38a219f39a9941c9319b600c002/foo/bar.txt',
          source: 'content',
        },
      ],
    },
  }),
  listKeyLeaks: operation({
    id: 'listKeyLeaks',
    kind: 'read',
    method: 'GET',
    path: '/tenant/keys/leaks',
    status: 'live',
    tag: 'Keys',
    summary: 'List leaked keys',
    description:
      'Your keys that were found in public, the newest report first: where they were found, what was done, and what the ' +
      'request log has of them. `GET /tenant/requests` with `key_hint` lists all requests of such a key.',
    caller: 'secret',
    roles: analysts,
    query: closed({
      ...pageQuery,
      valid: Type.Optional(
        Type.Boolean({
          'x-status': 'live',
          description: 'true: only keys that are valid now. false: only keys that were revoked or have expired.',
        }),
      ),
    }),
    answers: { 200: { description: 'A page of leaked keys.', data: Type.Array(KeyLeak), paged: true } },
    errors: ['invalid_cursor'],
    example: {
      data: [
        {
          key_id: 'key_4fRzK0vXcB1mQwErTy7uPa',
          key_name: 'ci',
          key_hint: 'wsk_…9xQ2',
          action: 'revoked',
          first_seen_at: at,
          last_seen_at: at,
          places: [{ url: 'https://github.com/octocat/Hello-World/blob/main/foo/bar.txt', source: 'content', first_seen_at: at }],
          requests: {
            count: 2,
            since: at,
            last_at: at,
            origins: [{ origin: null, count: 2 }],
            last: [
              {
                request_id: 'req_4fRzK0vXcB1mQwErTy7uPa',
                created_at: at,
                method: 'GET',
                path: '/collections/{id}/items',
                status: 200,
                origin: null,
              },
            ],
            searched_from: null,
          },
        },
      ],
    },
  }),
  getKeyLeakPolicy: operation({
    id: 'getKeyLeakPolicy',
    kind: 'read',
    method: 'GET',
    path: '/tenant/keys/leaks/policy',
    status: 'live',
    tag: 'Keys',
    summary: 'Read what happens to leaked keys',
    description: '`revoke` until you choose.',
    caller: 'secret',
    roles: analysts,
    answers: { 200: { description: 'The policy.', data: Policy } },
    example: { data: policyExample },
  }),
  setKeyLeakPolicy: operation({
    id: 'setKeyLeakPolicy',
    kind: 'write',
    method: 'PUT',
    path: '/tenant/keys/leaks/policy',
    status: 'live',
    tag: 'Keys',
    summary: 'Choose what happens to leaked keys',
    description:
      'Applies to reports from now on. With `revoke`, even the last secret key is revoked: a member of the console, or the ' +
      'operator, then opens the way back. With `notify`, whoever found the key can use it until you revoke it.',
    caller: 'secret',
    roles: owners,
    audited: true,
    body: closed({ action }),
    answers: { 200: { description: 'The policy.', data: Policy } },
    example: { body: policyExample, data: policyExample },
  }),
}

import { Type } from './type.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, createdWithin, id, noNul, nullable, oneOf, pageQuery, Timestamp } from './schemas.ts'

const LoggedRequest = Type.Object({
  request_id: id('request'),
  created_at: Timestamp,
  method: Type.String(),
  path: Type.String({ description: 'The path as the API declares it, such as `/collections/{id}/items`, without ids.' }),
  status: Type.Integer({ minimum: 100, maximum: 599 }),
  code: nullable(Type.String({ description: 'The error code, if the request failed.' })),
  doc_url: nullable(Type.String({ description: 'The page about that error.' })),
  key_id: id('key'),
  key_hint: nullable(Type.String({ description: 'The prefix and the last four characters of the key.' })),
  duration_ms: Type.Number({ minimum: 0, description: "From the request's headers to the answer." }),
  origin: nullable(Type.String({ description: 'The Origin header, which browsers send. Null: a server sent the request.' })),
})

const Settings = Type.Object({
  enabled: Type.Boolean({ description: 'Whether your requests are logged.' }),
  days: Type.Integer({ minimum: 0, description: 'How long entries are kept. 0: this installation logs no requests.' }),
})

const RequestBucket = Type.Object({
  at: Type.String({ format: 'date-time', description: 'When the hour or day (UTC) begins.' }),
  requests: Type.Integer({ minimum: 0 }),
  refused: Type.Integer({ minimum: 0, description: 'Answered with 4xx.' }),
  failed: Type.Integer({ minimum: 0, description: 'Answered with 5xx.' }),
  p95_ms: nullable(
    Type.Number({ minimum: 0, description: '95 percent of the answers took no longer. Null: there was no request.' }),
  ),
})

const text = (description: string, maxLength: number) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, pattern: noNul, description }))

export const requestLogOperations = {
  listRequests: operation({
    id: 'listRequests',
    kind: 'read',
    method: 'GET',
    path: '/tenant/requests',
    status: 'live',
    tag: 'Tenants',
    summary: 'List the requests of your keys',
    description:
      'Every answered request of your keys, newest first, with its result and without its content: no body, no query ' +
      'string, no header but Origin, no IP address. A request that showed no valid key is not listed, and neither is what ' +
      'members do in the console, whose changes are in the audit log. Requests of the last seconds may be missing, and some ' +
      'are if the database was overloaded: the log never delays a request. A page may be shorter than `limit`, or empty, ' +
      'with more to follow: one call reads about 50,000 entries.',
    caller: 'secret',
    roles: analysts,
    query: closed({
      request_id: Type.Optional(id('request')),
      status: Type.Optional(
        Type.String({
          pattern: '^([1-5](\\d\\d|xx)|errors)$',
          description: 'A status such as `404`, a class such as `4xx`, or `errors` for 4xx and 5xx.',
        }),
      ),
      method: Type.Optional(oneOf(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])),
      path: text('The path as the API declares it, such as `/collections/{id}/items`.', 200),
      key_hint: text('The hint of the key, or how it ends, such as `9xQ2`.', 50),
      ...createdWithin,
      ...pageQuery,
    }),
    answers: { 200: { description: 'A page of requests.', data: Type.Array(LoggedRequest), paged: true } },
    errors: ['invalid_cursor'],
    example: {
      data: [
        {
          request_id: 'req_4fRzK0vXcB1mQwErTy7uPa',
          created_at: '2026-11-20T09:30:00.000Z',
          method: 'POST',
          path: '/collections/{id}/items',
          status: 409,
          code: 'state_conflict',
          doc_url: 'https://api.atrium.example/docs/errors/state_conflict',
          key_id: 'key_4fRzK0vXcB1mQwErTy7uPa',
          key_hint: 'wpk_…9xQ2',
          duration_ms: 4.2,
          origin: 'https://harbour.example',
        },
      ],
    },
  }),
  summariseRequests: operation({
    id: 'summariseRequests',
    kind: 'read',
    method: 'GET',
    path: '/tenant/requests/summary',
    status: 'live',
    tag: 'Tenants',
    summary: 'Count your requests and their errors over time',
    description:
      'The last 48 hours by hour, or each day (UTC) that the log keeps, at most 90: oldest first, without a gap. It counts ' +
      'the requests that `GET /tenant/requests` lists.\n\n' +
      'The counts are exact. `p95_ms` comes from a sample of at most 1,600 requests an hour or day; `sampled` is true if ' +
      'there are more.',
    caller: 'secret',
    roles: analysts,
    query: closed({ by: Type.Optional(oneOf(['hour', 'day'], { default: 'hour' })) }),
    answers: {
      200: {
        description: 'The hours or days.',
        data: Type.Object({
          enabled: Type.Boolean({ description: 'Whether your requests are logged.' }),
          sampled: Type.Boolean({ description: 'Whether `p95_ms` is an estimate from a sample.' }),
          buckets: Type.Array(RequestBucket),
        }),
      },
    },
    example: {
      data: {
        enabled: true,
        sampled: false,
        buckets: [{ at: '2026-11-20T09:00:00.000Z', requests: 412, refused: 6, failed: 0, p95_ms: 18.4 }],
      },
    },
  }),
  getRequestLogSettings: operation({
    id: 'getRequestLogSettings',
    kind: 'read',
    method: 'GET',
    path: '/tenant/requests/settings',
    status: 'live',
    tag: 'Tenants',
    summary: 'Read whether your requests are logged',
    description: 'Whether requests of your keys are logged, and how long the installation keeps the entries.',
    caller: 'secret',
    roles: analysts,
    answers: { 200: { description: 'The settings.', data: Settings } },
    example: { data: { enabled: true, days: 7 } },
  }),
  setRequestLogSettings: operation({
    id: 'setRequestLogSettings',
    kind: 'write',
    method: 'PUT',
    path: '/tenant/requests/settings',
    status: 'live',
    tag: 'Tenants',
    summary: 'Switch the request log on or off',
    description:
      'Applies in every process normally within a second and never later than 15 seconds. Entries that exist stay for ' +
      'their time.',
    caller: 'secret',
    roles: developers,
    audited: true,
    body: closed({ enabled: Type.Boolean() }),
    answers: { 200: { description: 'The settings.', data: Settings } },
    example: { body: { enabled: false }, data: { enabled: false, days: 7 } },
  }),
}

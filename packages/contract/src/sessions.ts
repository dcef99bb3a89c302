import Type from 'typebox'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, createdWithin, credential, credits, id, nullable, oneOf, opaqueObject, pageQuery, Timestamp } from './schemas.ts'
import { Spk } from './space-schemas.ts'

const sessionParams = Type.Object({ id: id('session') })
const maxMinutes = Type.Integer({ minimum: 1, maximum: 24 * 60 })
const room = Type.String({ description: 'The room, without its key.' })

export const sessionStatus = oneOf(['armed', 'launching', 'running', 'paused', 'stopping', 'stopped', 'failed', 'expired'])

const budget = (description: string) => Type.Integer({ minimum: 1, maximum: 1_000_000_000, description })

export const SessionLaunch = closed({
  agent_id: id('agent'),
  room: closed({
    room: Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' }),
    mk: Type.Optional(
      Type.String({
        minLength: 22,
        maxLength: 512,
        description:
          'The room key. Stored sealed, and only while the session needs it. Required without `sealed_key`, but for a prepared launch (`arm`) of a hosted agent into ' +
          'a room whose lines the clients seal.',
      }),
    ),
    sealed_key: Type.Optional(
      Type.String({
        maxLength: 2_048,
        pattern: '^[A-Za-z0-9_-]+\\.\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]{22}$',
        'x-status': 'live',
        description:
          'In place of `mk`, for a room whose lines the clients seal, and a remote agent with an `encryption_key`: a compact ' +
          'JWE (RFC 7516) for that key, with `"alg":"ECDH-ES"`, `"enc":"A256GCM"` and, as `kid`, the RFC 7638 thumbprint of ' +
          'the key. It is passed on to the agent. This service cannot open it.',
      }),
    ),
  }),
  coupon: credential('The coupon (cpn_…) or wallet code (wlt_…) that pays. Stored sealed, and only while needed.'),
  max_price_credits: Type.Optional(
    credits({
      description:
        'The price that the buyer saw, in whole credits. If the agent now costs more, nothing is launched (409 ' +
        '`price_changed`).',
    }),
  ),
  quote: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'A quote of `POST /quotes` for this agent. The launch costs at most the quoted price.',
    }),
  ),
  budget_credits: Type.Optional(
    budget(
      'Held beside the price, and pays what the agent uses: `credits_per_1k_tokens` and `credits_per_tool_call` of the ' +
        'agent. When it is used up, the session pauses. Without it, use is neither counted nor charged.',
    ),
  ),
  arm: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'true: prepares a pending launch and returns its summon key, without launching or charging.',
    }),
  ),
  max_minutes: Type.Optional({ ...maxMinutes, description: "Capped at the agent's own max_minutes." }),
  metadata: Type.Optional(opaqueObject('Data of the app for the agent, at most 16 KiB.')),
})

export const Session = Type.Object({
  id: id('session'),
  agent_id: id('agent'),
  room,
  status: sessionStatus,
  control_token: Type.String({ description: 'Reads and stops this session (sct_…). Returned once.' }),
  price_credits: credits(),
  budget_credits: Type.Optional(credits({ description: 'Only of a session with a budget: what is held for use.' })),
  created_at: Timestamp,
  expires_at: Timestamp,
})

export const SessionArmed = Type.Object({
  id: id('session'),
  status: Type.Unsafe<'armed'>({ type: 'string', const: 'armed' }),
  summon_key: Type.String({
    description: 'Starts the pending launch, and can start it again after each session (sk_…). Returned once.',
  }),
  agent_id: id('agent'),
  room,
  expires_at: Timestamp,
  card: Type.Optional(
    Type.String({
      'x-status': 'live',
      description:
        'Only of a hosted agent for a room whose lines the clients seal: the card of the device with which the operator of the ' +
        'agent will read along. The owner of the room consents by a list that names it (`hosted`), and then uses the summon key, ' +
        'once, before `expires_at`.',
    }),
  ),
})

export const SessionAlreadyPresent = Type.Object({
  id: id('session'),
  agent_id: id('agent'),
  room,
  already_present: Type.Unsafe<true>({ type: 'boolean', const: true }),
})

export const SessionStatus = Type.Object({
  id: id('session'),
  agent_id: id('agent'),
  room,
  status: sessionStatus,
  price_credits: credits({ description: 'The amount held at launch, in whole credits.' }),
  charged_credits: credits({
    description:
      'The amount captured when the session stopped, in whole credits: the price and, of a session with a budget, what ' +
      'was used. 0 until then, and if the agent never joined.',
  }),
  budget_credits: Type.Optional(
    credits({ description: 'Only of a session with a budget: what was held for use, at the launch and by top-ups.' }),
  ),
  used_credits: Type.Optional(
    credits({
      description:
        'Only of a session with a budget: the price of what was used. The last answer of the model may exceed the budget; ' +
        'only a top-up pays for that part.',
    }),
  ),
  used_tokens: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Only of a session with a budget: tokens that the model read and wrote. Estimated where its provider reports none.',
    }),
  ),
  used_tool_calls: Type.Optional(Type.Integer({ minimum: 0, description: 'Only of a session with a budget.' })),
  max_minutes: Type.Integer({ description: 'The longest duration from the launch on, in minutes.' }),
  created_at: Timestamp,
  joined_at: nullable(Timestamp),
  stopped_at: nullable(Timestamp),
  expires_at: Timestamp,
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
})

const sessionExample = {
  id: 'ses_4fRzK0vXcB1mQwErTy7uPa',
  agent_id: 'agt_4fRzK0vXcB1mQwErTy7uPa',
  room: 'lantern-night',
  status: 'launching',
  control_token: 'sct_…',
  price_credits: 5,
  created_at: '2026-11-20T09:30:00.000Z',
  expires_at: '2026-11-20T10:00:00.000Z',
}

const statusExample = {
  id: sessionExample.id,
  agent_id: sessionExample.agent_id,
  room: sessionExample.room,
  status: 'running',
  price_credits: 5,
  charged_credits: 0,
  max_minutes: 30,
  created_at: sessionExample.created_at,
  joined_at: '2026-11-20T09:30:04.000Z',
  stopped_at: null,
  expires_at: sessionExample.expires_at,
}

export const sessionOperations = {
  listSessions: operation({
    id: 'listSessions',
    kind: 'read',
    method: 'GET',
    path: '/sessions',
    status: 'live',
    tag: 'Sessions',
    summary: 'List the sessions',
    description:
      'The sessions that the tenant launched and its pending launches (`armed`), newest first. Control tokens, summon keys, room keys and coupons ' +
      'are not part of it. A call reads a bounded number of sessions: with filters a page may hold fewer than `limit`, or none, and still have a ' +
      'next_cursor. A session is listed for as long as it is kept: 90 days after its end, unless the installation sets another time.',
    caller: 'secret',
    roles: analysts,
    query: closed({
      status: Type.Optional(sessionStatus),
      agent_id: Type.Optional(id('agent')),
      ...createdWithin,
      ...pageQuery,
    }),
    answers: { 200: { description: 'A page of sessions.', data: Type.Array(SessionStatus), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [statusExample] },
  }),
  launchSession: operation({
    id: 'launchSession',
    kind: 'claimed',
    method: 'POST',
    path: '/sessions',
    status: 'live',
    tag: 'Sessions',
    summary: 'Launch an agent into a room',
    description:
      "Holds the agent's price on the coupon and launches the agent. The hold is captured when the session stops " +
      'after the agent joined, and released if it never joined.\n\n' +
      'A retry with the same Idempotency-Key neither ' +
      'launches nor charges twice.\n\n' +
      'With `arm` it only prepares a pending launch: the answer contains a summon key ' +
      'and nothing is charged; a pending launch expires after 90 days.\n\n' +
      '- 200 means that the same agent is in the ' +
      'room already.\n' +
      '- Both kinds of tenant key are accepted, because the coupon pays; a spent coupon is 402, even ' +
      'if the price is 0.\n' +
      '- An agent that does not exist or that you may not launch is 400; an agent that an e-mail ' +
      'room has not admitted is 403 `not_authorized`.\n' +
      '- A room whose lines the clients seal takes remote agents that have an `encryption_key`, with `room.sealed_key` in place ' +
      'of `room.mk`. A hosted agent can only read along with the consent of the owner of the room: prepare the launch with `arm` and ' +
      'neither `mk` nor `sealed_key`, write a list that names the `card` of the answer, and use the summon key. The prepared launch ' +
      'expires after 15 minutes. Any other launch into it is 409 `state_conflict` with the reason `client_sealed`. If the agent has another ' +
      'key than the one that was sealed to, the reason is `agent_key_changed`: read the catalog and seal again. `arm` with a ' +
      '`sealed_key` is 400, because it is good for one session.\n\n' +
      'If the agent costs more than `max_price_credits`, nothing is ' +
      'launched or charged: 409 `price_changed`, whose `details` contain both prices (`price_credits`, ' +
      '`agreed_price_credits`). Without `max_price_credits` the same applies to a price that was raised in the ' +
      'last ten minutes; the lowest price of that time counts as agreed to.\n\n' +
      '`budget_credits` are held from the same coupon, in addition to the price, and pay what the agent uses. An agent ' +
      'without metered prices, such as a remote one, uses none: a budget for it is 400.\n\n' +
      'With a `quote` the launch costs the quoted price, or the current one if that is lower. A quote that has ' +
      'expired, is for another agent or tenant, or for fewer minutes than asked for, is 400.\n\n' +
      `A tenant has at most ${limits.activeSessions} sessions launching or running and ${limits.pendingLaunches} pending launches; beyond that the answer is 429 ` +
      '`rate_limited`, whose message names the limit.',
    caller: 'publishable',
    roles: developers,
    idempotency: 'required',
    body: SessionLaunch,
    answers: {
      200: { description: 'The same agent is in the room already.', data: SessionAlreadyPresent, oneTimeSecret: true },
      201: { description: 'Launched or, with `arm`, prepared.', data: Type.Union([Session, SessionArmed]), oneTimeSecret: true },
    },
    errors: ['insufficient_credit', 'not_authorized', 'price_changed', 'state_conflict'],
    example: {
      body: {
        agent_id: sessionExample.agent_id,
        room: { room: sessionExample.room, mk: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA' },
        coupon: 'cpn_…',
        max_price_credits: 5,
      },
      data: sessionExample,
    },
  }),
  summonSession: operation({
    id: 'summonSession',
    kind: 'claimed',
    method: 'POST',
    path: '/sessions/summon',
    status: 'legacy',
    tag: 'Sessions',
    summary: 'Start a pending launch',
    description:
      'The summon key in the body is the credential; an unknown one is 401. Charges the coupon that was stored ' +
      'when the launch was prepared: the agent’s price, but never more than at that time.\n\n' +
      'If the price has risen ' +
      'since, the answer is 409 `price_changed`, nothing is charged, and the launch stays pending.\n\n' +
      'While a session ' +
      'of this key runs, the answer is 409 `state_conflict`; after the session has ended the key can be used again.\n\n' +
      'Of a hosted agent for a room whose lines the clients seal, the key is good for one session. Unless the list in force names the ' +
      'device of the prepared launch, nothing is charged: 409 `state_conflict` with the reason `no_consent`.',
    credentialField: 'summon_key',
    caller: 'anyone',
    idempotency: 'accepted',
    body: closed({ summon_key: Type.String({ pattern: '^sk_', maxLength: 100 }) }),
    answers: { 201: { description: 'Launched.', data: Session, oneTimeSecret: true } },
    errors: ['unauthorized', 'tenant_suspended', 'insufficient_credit', 'not_authorized', 'price_changed', 'state_conflict'],
    example: { body: { summon_key: 'sk_…' }, data: sessionExample },
  }),
  getSession: operation({
    id: 'getSession',
    kind: 'read',
    method: 'GET',
    path: '/sessions/{id}',
    status: 'legacy',
    tag: 'Sessions',
    summary: 'Read a session',
    description:
      'Needs the control token of the session. With the token of another session the answer is 404, as if this one ' +
      'did not exist. A session is kept for 90 days after it has ended, unless the installation sets another time; ' +
      'then its token is 401.',
    caller: 'control',
    params: sessionParams,
    answers: { 200: { description: 'The session.', data: SessionStatus } },
    example: { data: statusExample },
  }),
  stopSession: operation({
    id: 'stopSession',
    kind: 'write',
    method: 'POST',
    path: '/sessions/{id}/stop',
    status: 'legacy',
    tag: 'Sessions',
    summary: 'Stop a session',
    description:
      'Removes the agent and settles the bill. Stopping a stopped session changes nothing and returns the same ' +
      'answer. The control token of another session is 403 `not_authorized`, whether or not this one exists.',
    caller: 'control',
    params: sessionParams,
    answers: {
      200: {
        description: 'Stopped.',
        data: Type.Object({ sessionId: id('session'), status: Type.Unsafe<'stopped'>({ type: 'string', const: 'stopped' }) }),
      },
    },
    errors: ['not_authorized'],
    example: { data: { sessionId: sessionExample.id, status: 'stopped' } },
  }),
  topUpSession: operation({
    id: 'topUpSession',
    kind: 'claimed',
    method: 'POST',
    path: '/sessions/{id}/top-up',
    status: 'live',
    tag: 'Sessions',
    summary: 'Add to the budget of a session',
    description:
      'Holds `budget_credits` on the coupon, which may be another one than at the launch, and adds them to the budget. ' +
      'A paused session continues: the agent answers what was said meanwhile. A session that is not paused keeps ' +
      'running with the larger budget.\n\n' +
      'The last answer of the model may have used more than the budget. The top-up pays for that part too; one that ' +
      'does not exceed it is 400, and nothing is held.\n\n' +
      'Only the launcher’s control token is accepted; that of the agent is 403 `not_authorized`. On a session that has ended, or was launched without a budget, it is 409 `state_conflict`. Its end settles all ' +
      'holds of a session: what was used is captured, in the order of the top-ups, and the rest is released.',
    caller: 'control',
    idempotency: 'required',
    params: sessionParams,
    body: closed({
      coupon: credential('The coupon (cpn_…) or wallet code (wlt_…) that pays. It is not stored.'),
      budget_credits: budget('What is added to the budget, in whole credits.'),
    }),
    answers: { 200: { description: 'The session.', data: SessionStatus } },
    errors: ['insufficient_credit', 'not_authorized', 'state_conflict'],
    example: {
      body: { coupon: 'cpn_…', budget_credits: 20 },
      data: { ...statusExample, budget_credits: 40, used_credits: 21, used_tokens: 9_120, used_tool_calls: 3 },
    },
  }),
  markSessionJoined: operation({
    id: 'markSessionJoined',
    kind: 'write',
    method: 'POST',
    path: '/sessions/{id}/joined',
    status: 'legacy',
    tag: 'Sessions',
    summary: 'Report that the agent joined',
    description:
      'A remote agent calls this with the control token of its launch request once it is in the room. From then on ' +
      'the price is due. A repeat changes nothing; on a session that has ended it is 409 `state_conflict`. The ' +
      'token of the launcher is 403 `not_authorized`.',
    caller: 'control',
    params: sessionParams,
    answers: { 200: { description: 'The session.', data: SessionStatus } },
    errors: ['not_authorized', 'state_conflict'],
    example: { data: statusExample },
  }),
  issueIdToken: operation({
    id: 'issueIdToken',
    kind: 'read',
    method: 'POST',
    path: '/sessions/{id}/id-token',
    status: 'legacy',
    tag: 'Sessions',
    summary: 'Get an ID token for a remote agent',
    description:
      'Issues an ID token which states that the holder of the device key in the body is the agent of this session. ' +
      'The Space service requires it from an agent in an e-mail room, and in any room it names the agent as the ' +
      'author.\n\n' +
      'It needs the control token of the agent’s launch request; the launcher’s control token is 403 ' +
      '`not_authorized`.\n\n' +
      'RS256, by the key set of the API origin (`/.well-known/openid-configuration`); `aud` is ' +
      'the origin of the Space service, `sub` the agent’s id, `nonce` the RFC 7638 thumbprint of `spk`, and the ' +
      'header’s `typ` is `agent+jwt`. It is valid for 45 seconds, but not beyond the session’s `expires_at`, so ' +
      'that it does not outlive its session. Get a fresh one before a long poll, and whenever the Space service ' +
      'answers `token: expired`.\n\n' +
      'On a session that has ended it is 409 `state_conflict`, and while an operator ' +
      'holds the agent or has suspended its tenant 403 `not_authorized`.',
    caller: 'control',
    params: sessionParams,
    body: closed({ spk: Spk }),
    answers: {
      200: {
        description: 'The token and its expiry.',
        data: Type.Object({ id_token: Type.String(), expires_at: Timestamp }),
        oneTimeSecret: true,
      },
    },
    errors: ['not_authorized', 'state_conflict'],
    example: {
      body: {
        spk: {
          kty: 'EC',
          crv: 'P-256',
          x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
          y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
        },
      },
      data: { id_token: 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImFnZW50K2p3dCJ9…', expires_at: sessionExample.expires_at },
    },
  }),
}

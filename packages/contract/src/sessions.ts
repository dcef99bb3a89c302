import { Type } from './type.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, createdWithin, credential, id, pageQuery, Timestamp } from './schemas.ts'
import { Spk } from './space-schemas.ts'
import {
  sessionParams,
  sessionStatus,
  budget,
  SessionLaunch,
  Session,
  SessionArmed,
  SessionAlreadyPresent,
  SessionStatus,
  sessionExample,
  statusExample,
} from './session-schemas.ts'

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

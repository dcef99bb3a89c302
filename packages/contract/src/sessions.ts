import Type from 'typebox'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { closed, credential, credits, id, nullable, oneOf, opaqueObject, Timestamp } from './schemas.ts'
import { Spk } from './space-schemas.ts'

const sessionParams = Type.Object({ id: id('session') })
const maxMinutes = Type.Integer({ minimum: 1, maximum: 24 * 60 })
const room = Type.String({ description: 'The room, without its key.' })

export const sessionStatus = oneOf(['armed', 'launching', 'running', 'stopping', 'stopped', 'failed', 'expired'])

export const SessionLaunch = closed({
  agent_id: id('agent'),
  room: closed({
    room: Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' }),
    mk: Type.String({
      minLength: 22,
      maxLength: 512,
      description: 'The room key. Kept sealed, and only while the session needs it.',
    }),
  }),
  coupon: credential('A coupon (cpn_…) or wallet code (wlt_…) that pays. Kept sealed, and only while needed.'),
  max_price_credits: Type.Optional(
    credits({
      description:
        'The price that the buyer was shown, in whole credits: where the agent costs more by now, nothing is launched (409 `price_changed`).',
    }),
  ),
  arm: Type.Optional(
    Type.Boolean({ default: false, description: 'true: provision only; no launch, no charge, and a summon key.' }),
  ),
  max_minutes: Type.Optional({ ...maxMinutes, description: "Where it is more than the agent's own, the agent's own counts." }),
  metadata: Type.Optional(opaqueObject("The app's own, at most 16 KiB; handed to the agent.")),
})

export const Session = Type.Object({
  id: id('session'),
  agent_id: id('agent'),
  room,
  status: sessionStatus,
  control_token: Type.String({ description: 'Reads and stops this session (sct_…). Shown once.' }),
  price_credits: credits(),
  created_at: Timestamp,
  expires_at: Timestamp,
})

export const SessionArmed = Type.Object({
  id: id('session'),
  status: Type.Unsafe<'armed'>({ type: 'string', const: 'armed' }),
  summon_key: Type.String({ description: 'Launches the armed room, again after each session (sk_…). Shown once.' }),
  agent_id: id('agent'),
  room,
  expires_at: Timestamp,
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
  price_credits: credits({ description: 'Held at launch. Whole credits.' }),
  charged_credits: credits({
    description: 'Captured when it stopped; 0 until then, and where the agent never joined. Whole credits.',
  }),
  max_minutes: Type.Integer({ description: 'How long it may last from its launch on.' }),
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
  launchSession: operation({
    id: 'launchSession',
    kind: 'claimed',
    method: 'POST',
    path: '/sessions',
    status: 'live',
    tag: 'Sessions',
    summary: 'Launch an agent into a room',
    description:
      "Holds the agent's price on the coupon and sends the agent; the hold is captured when the session stops after the agent joined, and " +
      'released when it never did. A retry with the same Idempotency-Key neither launches nor charges twice. With `arm` it only provisions: ' +
      'the answer holds a summon key and nothing is charged; an armed room expires after 90 days. 200 says that the same agent is in the room already. Either kind of tenant key ' +
      'is accepted: what pays is the coupon; one that is spent is 402, also where the price is 0. An agent that does not exist or may not be launched by you is 400; an agent that an e-mail room ' +
      'has not admitted is 403 `not_authorized`. Where the agent costs more than `max_price_credits`, nothing is launched and nothing charged: 409 ' +
      '`price_changed`, whose `details` hold both prices (`price_credits`, `agreed_price_credits`). Without `max_price_credits` the same is said of a ' +
      'price that was raised in the last ten minutes, for which the lowest one before counts as agreed to. ' +
      `A tenant has at most ${limits.livingSessions} sessions launching or running and ${limits.armedRooms} rooms armed; beyond that 429 ` +
      '`rate_limited`, whose message says which.',
    caller: 'publishable',
    idempotency: 'required',
    body: SessionLaunch,
    answers: {
      200: { description: 'The same agent is in the room already.', data: SessionAlreadyPresent, oneTimeSecret: true },
      201: { description: 'Launched, or armed with `arm`.', data: Type.Union([Session, SessionArmed]), oneTimeSecret: true },
    },
    errors: ['insufficient_credit', 'not_authorized', 'price_changed'],
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
    summary: 'Launch an armed room',
    description:
      'The summon key in the body is the credential; an unknown one is 401. Charges what was stashed when the room was armed: ' +
      'the agent’s price, but never more than it was then. Where the price has risen since: 409 `price_changed`, nothing is charged, and the ' +
      'room stays armed. While a session of this key runs: 409 `state_conflict`; after it ended the key may be used again.',
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
    summary: 'How a session is going',
    description:
      'For the holder of its control token. The token of another session is answered as if this one did not exist. ' +
      'A session is kept for a while after it has ended (90 days, unless the installation sets another time); then its token is 401.',
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
      'Sends the agent away and settles the bill. Stopping a stopped session changes nothing and answers the same. The control token of ' +
      'another session is 403 `not_authorized`, whether or not this one exists.',
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
  markSessionJoined: operation({
    id: 'markSessionJoined',
    kind: 'write',
    method: 'POST',
    path: '/sessions/{id}/joined',
    status: 'legacy',
    tag: 'Sessions',
    summary: 'Report that the agent joined',
    description:
      'Sent by a remote agent, with the control token that its launch request bore, once it is in the room: from then on the price is due. A ' +
      'repeat changes nothing; on a session that has ended it is 409 `state_conflict`. The token of the launcher ' +
      'is 403 `not_authorized`.',
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
      'Signs, for the device key in the body, that its holder is the agent of this session: what the Space service asks of an agent in an ' +
      'e-mail room, and what names it as the author in any room. Only the control token that the agent’s launch request bore gets one; ' +
      'that of whoever launched it is 403 `not_authorized`. RS256, by the key set of the API origin ' +
      '(`/.well-known/openid-configuration`); `aud` is the origin of the Space service, `sub` the agent’s id, `nonce` the RFC 7638 ' +
      'thumbprint of `spk`, and the header’s `typ` is `agent+jwt`. It is good for 45 seconds, or until the session’s `expires_at`, so that it does ' +
      'not outlive its session: ask for a fresh one before a poll that is held, and whenever the Space service says `token: expired`. ' +
      'On a session that has ended it is 409 `state_conflict`, and while an operator holds the agent or has suspended its tenant ' +
      '403 `not_authorized`.',
    caller: 'control',
    params: sessionParams,
    body: closed({ spk: Spk }),
    answers: {
      200: {
        description: 'The token, and until when it is good.',
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

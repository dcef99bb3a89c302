import { Type } from './type.ts'
import { closed, credential, credits, id, nullable, oneOf, opaqueObject, Timestamp } from './schemas.ts'

export const sessionParams = Type.Object({ id: id('session') })
const maxMinutes = Type.Integer({ minimum: 1, maximum: 24 * 60 })
const room = Type.String({ description: 'The room, without its key.' })

export const sessionStatus = oneOf(['armed', 'launching', 'running', 'paused', 'stopping', 'stopped', 'failed', 'expired'])

export const budget = (description: string) => Type.Integer({ minimum: 1, maximum: 1_000_000_000, description })

export const SessionLaunch = closed({
  agent_id: id('agent'),
  room: closed({
    room: Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' }),
    mk: Type.Optional(
      Type.String({
        minLength: 22,
        maxLength: 512,
        description:
          'The room key. Stored sealed, and only while the session needs it. Required without `sealed_key`, except for a prepared launch (`arm`) of a hosted agent into ' +
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

export const sessionExample = {
  id: 'ses_4fRzK0vXcB1mQwErTy7uPa',
  agent_id: 'agt_4fRzK0vXcB1mQwErTy7uPa',
  room: 'lantern-night',
  status: 'launching',
  control_token: 'sct_…',
  price_credits: 5,
  created_at: '2026-11-20T09:30:00.000Z',
  expires_at: '2026-11-20T10:00:00.000Z',
}

export const statusExample = {
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

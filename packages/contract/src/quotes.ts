import { Type } from './type.ts'
import { operation } from './operation.ts'
import { developers } from './roles.ts'
import { closed, credits, id, Timestamp } from './schemas.ts'

export const quoteOperations = {
  createQuote: operation({
    id: 'createQuote',
    kind: 'read',
    method: 'POST',
    path: '/quotes',
    status: 'live',
    tag: 'Sessions',
    summary: 'Get a price that holds',
    description:
      'A signed quote of the price of a launch, valid for 15 minutes. `POST /sessions` with this `quote` is never ' +
      'dearer: it costs the quoted price or, if that is lower, the current one. A quote reserves nothing, and can be ' +
      'used for several launches by the tenant that asked for it.\n\n' +
      '`quote` is a compact JWS (ES256, `typ: quote+jwt`) by a key of `/.well-known/jwks.json`, with `iss` (the API ' +
      'origin), `aud` (the tenant), `sub` (the agent), `price`, `max_minutes`, `credits_per_1k_tokens` and ' +
      '`credits_per_tool_call` (of metered use, promised like the price), `iat` and `exp`. An agent that does not exist or that you may not launch is 400.',
    caller: 'publishable',
    roles: developers,
    body: closed({
      agent_id: id('agent'),
      max_minutes: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 24 * 60,
          description: "Capped at the agent's own max_minutes, which is the default.",
        }),
      ),
    }),
    answers: {
      201: {
        description: 'The quote.',
        data: Type.Object({ quote: Type.String(), price_credits: credits(), valid_until: Timestamp }),
      },
    },
    example: {
      body: { agent_id: 'agt_4fRzK0vXcB1mQwErTy7uPa', max_minutes: 30 },
      data: { quote: 'eyJhbGciOiJFUzI1NiIsInR5cCI6InF1b3RlK2p3dCJ9…', price_credits: 5, valid_until: '2026-11-20T09:45:00.000Z' },
    },
  }),
}

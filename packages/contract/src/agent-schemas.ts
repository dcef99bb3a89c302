import type { Static } from 'typebox'
import { Type } from './type.ts'
import { providers } from './provider-keys.ts'
import { closed, credits, id, nullable, oneOf, Timestamp } from './schemas.ts'

const httpsAddress = Type.String({
  minLength: 1,
  maxLength: 2_000,
  pattern: '^https?://',
  description: 'An https URL with a public address. Stored in normalised form.',
})
const secret = nullable(
  Type.String({ minLength: 1, maxLength: 500, description: 'Sealed at rest and never returned. null removes it.' }),
)
const toolName = Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$' })
const parameters = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description:
    'JSON Schema (2020-12) of the arguments; its type is object. At most 16 KiB and 24 levels deep; patterns of at ' +
    'most 200 characters; $ref only into itself.',
})

const HttpTool = closed({
  name: toolName,
  description: Type.String({ minLength: 1, maxLength: 1_000 }),
  parameters,
  url: httpsAddress,
  secret: Type.Optional(secret),
})
const McpTool = closed({ mcp: httpsAddress, secret: Type.Optional(secret) })

/** A tool: a URL that receives signed requests, or an MCP server (streamable HTTP) that lists its own tools. */
export const ToolDecl = Type.Union([HttpTool, McpTool])

/** A tool as the API returns it: without its secret. */
export const ToolShown = Type.Object({
  name: Type.Optional(toolName),
  description: Type.Optional(Type.String()),
  parameters: Type.Optional(parameters),
  url: Type.Optional(Type.String()),
  mcp: Type.Optional(Type.String()),
  has_secret: Type.Boolean(),
})

const Model = closed({ provider: oneOf([...providers, 'echo']), id: Type.String({ minLength: 1, maxLength: 100 }) })

const registrationFields = {
  name: Type.String({ minLength: 1, maxLength: 120 }),
  description: Type.String({ minLength: 1, maxLength: 2_000 }),
  instructions: Type.String({ maxLength: 32_000, description: 'The system prompt of the model. Returned only to the owner.' }),
  price_credits: credits({ description: 'The price of one launch, in whole credits.' }),
  max_minutes: Type.Integer({ minimum: 1, maximum: 24 * 60 }),
}
/** A million credits for a step at most, so that every sum stays exact. */
const meteredPrice = (what: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    description: `Whole credits for ${what}, paid from the budget of a session. 0: free. Only for hosted agents.`,
  })
const meteredPrices = {
  credits_per_1k_tokens: Type.Optional(meteredPrice('1,000 tokens that the model reads or writes')),
  credits_per_tool_call: Type.Optional(meteredPrice('each call of a tool')),
}
/** As the API returns them: absent where they are 0. */
export const meteredPricesShown = {
  credits_per_1k_tokens: Type.Optional(
    credits({ description: 'Whole credits for 1,000 tokens, paid from the budget of a session. Absent: free.' }),
  ),
  credits_per_tool_call: Type.Optional(
    credits({ description: 'Whole credits for each tool call, paid from the budget of a session. Absent: free.' }),
  ),
}
const coordinate = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })
/** x-status live: an addition to the contract. */
const encryptionKeyFields = {
  kty: Type.Unsafe<'EC'>({ type: 'string', const: 'EC' }),
  crv: Type.Unsafe<'P-256'>({ type: 'string', const: 'P-256' }),
  x: coordinate,
  y: coordinate,
}
const xStatusLive = { 'x-status': 'live' } as const
const encryptionKey = closed(encryptionKeyFields, {
  ...xStatusLive,
  description:
    'A public P-256 key (JWK) of a remote agent, whose private part its owner keeps. With it the agent can be launched ' +
    'into rooms whose key never reaches a server: what it needs to join is sealed to this key (`room.sealed_key` of a launch).',
})
/** As the API returns it: only a remote agent has one. */
export const encryptionKeyShown = Type.Optional(
  Type.Object(encryptionKeyFields, {
    ...xStatusLive,
    description:
      'The public key of a remote agent that can be launched into rooms whose key never reaches a server: seal to it ' +
      'what the agent needs to join (`room.sealed_key` of a launch).',
  }),
)
const registrationOptions = {
  ...meteredPrices,
  model: Type.Optional(Model),
  endpoint: Type.Optional(httpsAddress),
  encryption_key: Type.Optional(encryptionKey),
  tools: Type.Optional(Type.Array(ToolDecl, { maxItems: 32 })),
  greeting: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2_000, description: 'The first message that the agent writes after it joins.' }),
  ),
  avatar_url: Type.Optional(httpsAddress),
}

export const AgentRegistration = closed({ ...registrationFields, ...registrationOptions })

/** The fields of a registration, all optional. null removes an optional field. */
export const AgentPatch = closed(
  {
    name: Type.Optional(registrationFields.name),
    description: Type.Optional(registrationFields.description),
    instructions: Type.Optional(registrationFields.instructions),
    price_credits: Type.Optional(registrationFields.price_credits),
    ...meteredPrices,
    max_minutes: Type.Optional(registrationFields.max_minutes),
    model: Type.Optional(nullable(Model)),
    endpoint: Type.Optional(nullable(httpsAddress)),
    encryption_key: Type.Optional(nullable(encryptionKey)),
    tools: registrationOptions.tools,
    greeting: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 2_000 }))),
    avatar_url: Type.Optional(nullable(httpsAddress)),
    rotate_signing_secret: Type.Optional(
      Type.Boolean({ description: 'Replaces the signing secret at once. The old secret is no longer used.' }),
    ),
  },
  { minProperties: 1 },
)

export const agentStatus = oneOf(['draft', 'active', 'private', 'suspended', 'pending'])

export const Agent = Type.Object({
  id: id('agent'),
  name: Type.String(),
  description: Type.String(),
  instructions: Type.String(),
  model: Type.Optional(Type.Object({ provider: Type.String(), id: Type.String() })),
  endpoint: Type.Optional(Type.String()),
  encryption_key: encryptionKeyShown,
  tools: Type.Array(ToolShown),
  price_credits: credits(),
  ...meteredPricesShown,
  max_minutes: Type.Integer(),
  greeting: Type.Optional(Type.String()),
  avatar_url: nullable(Type.String()),
  signing_secret: Type.Optional(
    Type.String({
      description:
        'Only for a remote agent (whsec_…): signs the requests to its endpoint (Standard Webhooks). Returned only ' +
        'when it is new.',
    }),
  ),
  status: agentStatus,
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const registrationExample: Static<typeof AgentRegistration> = {
  name: 'Lamplighter',
  description: 'Tells the story of every lamp in the harbour.',
  instructions: 'You are an old lamplighter. Answer briefly and kindly.',
  model: { provider: 'anthropic', id: 'claude-sonnet-4-5' },
  tools: [
    {
      name: 'find_lamp',
      description: 'Finds a lamp by its number.',
      parameters: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
      url: 'https://lamps.example/tools/find',
      secret: '…',
    },
  ],
  price_credits: 5,
  max_minutes: 30,
}

export const agentExample: Static<typeof Agent> = {
  id: 'agt_4fRzK0vXcB1mQwErTy7uPa',
  name: 'Lamplighter',
  description: 'Tells the story of every lamp in the harbour.',
  instructions: 'You are an old lamplighter. Answer briefly and kindly.',
  model: { provider: 'anthropic', id: 'claude-sonnet-4-5' },
  tools: [
    { name: 'find_lamp', description: 'Finds a lamp by its number.', url: 'https://lamps.example/tools/find', has_secret: true },
  ],
  price_credits: 5,
  max_minutes: 30,
  avatar_url: null,
  status: 'draft',
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
}

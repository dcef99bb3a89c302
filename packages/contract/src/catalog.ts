import { Type } from './type.ts'
import { encryptionKeyShown, meteredPricesShown } from './agent-schemas.ts'
import { operation } from './operation.ts'
import { everyMember } from './roles.ts'
import { closed, credits, id, nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'

/** The ratings of an agent, aggregated. */
export const RatingAggregate = Type.Object({
  average: nullable(Type.Number({ minimum: 1, maximum: 5, description: 'Stars, to two decimals; null without a rating.' })),
  count: Type.Integer({ minimum: 0 }),
})

export const CatalogAgent = Type.Object({
  id: id('agent'),
  name: Type.String(),
  description: Type.String(),
  price_credits: credits(),
  ...meteredPricesShown,
  max_minutes: Type.Integer({ description: 'The longest duration of a session, in minutes.' }),
  avatar_url: nullable(Type.String()),
  hosting: {
    ...oneOf(['hosted', 'remote']),
    description:
      'hosted: this installation runs it. remote: it runs on a machine of its owner, which receives the key of ' +
      'each room that it is launched into and can keep it. In a room without a list it can therefore read and ' +
      'write as a guest after its session has ended.',
  },
  encryption_key: encryptionKeyShown,
  rating: RatingAggregate,
  logged: Type.Optional(
    Type.Object(
      {
        card: Type.String({ description: 'The fields above except the rating, as JSON in the bytes that were hashed.' }),
        salt: Type.String({ description: '43 characters.' }),
        log_proof: Type.String({ description: 'The address of the inclusion proof.' }),
      },
      {
        description:
          'What the transparency log of this installation has of this agent: the entry ' +
          '`{"type":"agent_card","sha256":"…"}`, whose hash is SHA-256, in hexadecimal digits, of the salt followed by ' +
          'the card. Absent until it is logged, which takes about ten seconds for a new agent and up to ten minutes ' +
          'after a change. When the agent is changed or leaves the catalog, card and salt are deleted, and the entry says ' +
          'nothing any more.',
      },
    ),
  ),
})

const catalogAgentExample = {
  id: 'agt_4fRzK0vXcB1mQwErTy7uPa',
  name: 'Lamplighter',
  description: 'Tells the story of every lamp in the harbour.',
  price_credits: 5,
  max_minutes: 30,
  avatar_url: null,
  hosting: 'hosted',
  rating: { average: 4.6, count: 31 },
  logged: {
    card: '{"id":"agt_4fRzK0vXcB1mQwErTy7uPa","name":"Lamplighter","description":"Tells the story of every lamp in the harbour.","price_credits":5,"max_minutes":30,"avatar_url":null,"hosting":"hosted"}',
    salt: 'u5eSM1a0qkZ2f9bWJcT8xLd4nYhR7vPoE3gKiNwUtAo',
    log_proof: 'https://api.atrium.example/log/proof/5bc91f4e8d40eb79adb4b9a4ee79b2b4a3d24a3b4cf2c3b7c33efd7b5b3fd9a1',
  },
}

export const agentParams = Type.Object({ agentId: id('agent') })

export const catalogOperations = {
  listCatalog: operation({
    id: 'listCatalog',
    kind: 'read',
    method: 'GET',
    path: '/catalog',
    status: 'live',
    tag: 'Agents',
    summary: 'The public catalog of agents',
    description:
      'The active agents of all tenants, in the order of their registration. Instructions, tools and models are ' +
      'not shown. A page may hold fewer than `limit`; only the last one has no next_cursor.',
    caller: 'publishable',
    roles: everyMember,
    query: PageQuery,
    answers: { 200: { description: 'A page of agents.', data: Type.Array(CatalogAgent), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [catalogAgentExample] },
  }),
  getAgentRatings: operation({
    id: 'getAgentRatings',
    kind: 'read',
    method: 'GET',
    path: '/agents/{agentId}/ratings',
    status: 'legacy',
    tag: 'Agents',
    summary: 'Ratings of an agent',
    description: 'Average and count. An agent of another tenant must be active.',
    caller: 'publishable',
    roles: everyMember,
    params: agentParams,
    answers: { 200: { description: 'The aggregated ratings.', data: RatingAggregate } },
    example: { data: catalogAgentExample.rating },
  }),
  rateAgent: operation({
    id: 'rateAgent',
    kind: 'write',
    method: 'POST',
    path: '/agents/{agentId}/ratings',
    status: 'legacy',
    tag: 'Agents',
    summary: 'Rate an agent',
    description:
      'Once per session, with its control token; this agent must have joined the session. A second rating of the ' +
      'same session, or one before the agent joined, is 409 `state_conflict`; a session with another agent is 403 ' +
      '`not_authorized`.',
    caller: 'control',
    idempotency: 'accepted',
    params: agentParams,
    body: closed({ stars: Type.Integer({ minimum: 1, maximum: 5 }) }),
    answers: {
      201: {
        description: 'The stored rating.',
        data: Type.Object({ agent_id: id('agent'), stars: Type.Integer(), created_at: Timestamp }),
      },
    },
    errors: ['not_authorized', 'state_conflict'],
    example: { body: { stars: 5 }, data: { agent_id: catalogAgentExample.id, stars: 5, created_at: '2026-11-20T09:30:00.000Z' } },
  }),
}

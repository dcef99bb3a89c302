import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Context } from '../context.ts'
import { applyCors } from '#http/cors.ts'

const keySetPath = '/.well-known/jwks.json'

/**
 * Where the keys are that agents' tokens are verified with: OpenID discovery at the API's origin. It says what a verifier needs and no
 * more: nobody signs in here.
 */
export function addAgentIssuer(app: FastifyInstance, { agentIssuer }: Pick<Context, 'agentIssuer'>): void {
  const { issuer, keys } = agentIssuer
  const document = {
    issuer,
    jwks_uri: issuer + keySetPath,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['sub', 'name', 'nonce'],
  }
  app.get('/.well-known/openid-configuration', async (_req, reply) => publish(reply, document))
  app.get(keySetPath, async (_req, reply) => publish(reply, { keys: await keys.published() }))
}

/** For anyone, and not for long: a key that is retired must go. */
function publish(reply: FastifyReply, body: object): FastifyReply {
  applyCors(reply)
  return reply.header('cache-control', 'public, max-age=300').send(body)
}

import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import { addDevelopmentIdentity } from '#processes/development-identity/add-development-identity.ts'
import { takeJsonBodies } from '#gateway/harden.ts'
import { freePort } from '../../../tests/support/atrium-process.ts'

export interface TestDevelopmentIdentity {
  app: FastifyInstance
  issuer: string
  clientId: string
  signingKey: KeyObject
  close(): Promise<void>
}

export interface TestDevelopmentIdentityOptions {
  redirectOrigins: string[]
  host?: string
  now?: () => number
}

/** Starts the development sign-in alone, on a server that accepts only JSON, like the API's. */
export async function startDevelopmentIdentity({
  redirectOrigins,
  host = '127.0.0.1',
  now,
}: TestDevelopmentIdentityOptions): Promise<TestDevelopmentIdentity> {
  const port = await freePort()
  const publicUrl = `http://localhost:${port}`
  const { privateKey: signingKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const clientId = 'atrium-dev'
  const clients = [
    { clientId, redirectUris: redirectOrigins.map((origin) => `${origin}/space`) },
    { clientId: 'atrium-dev-console', redirectUris: [`${publicUrl}/console/oidc/callback`] },
  ]
  const app = Fastify()
  takeJsonBodies(app)
  addDevelopmentIdentity(app, { production: false, publicUrl, clients, signingKey, ...(now && { now }) })
  await app.listen({ host, port })
  return {
    app,
    issuer: `${publicUrl}/dev-identity`,
    clientId,
    signingKey,
    close: async () => {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

import type { AddressInfo } from 'node:net'
import { buildApp } from '../app.ts'
import { readConfig } from '../config/config.ts'
import type { Env } from '../config/env.ts'
import type { Context } from '../context.ts'
import { openTenant } from '../features/tenants/open-tenant.ts'
import { openContext } from '../open-context.ts'
import { createTestDatabase } from './test-database.ts'

export interface TestTenant {
  id: string
  secretKey: string
  publishableKey: string
}

export interface TestApi {
  /** With /v1. */
  baseUrl: string
  origin: string
  ctx: Context
  databaseUrl: string
  adminToken: string
  makeTenant(name?: string): Promise<TestTenant>
  close(): Promise<void>
}

const noEnv: Env = Object.fromEntries(
  [
    'nodeEnv',
    'port',
    'host',
    'publicUrl',
    'dataDir',
    'databaseUrl',
    'redisUrl',
    'adminToken',
    'masterKey',
    'rateLimit',
    'trustProxy',
    'log',
  ].map((name) => [name, undefined]),
) as Env

/** The whole API in this process, listening on loopback over a database of its own. */
export async function startTestApi(env: Partial<Env> = {}): Promise<TestApi> {
  const database = await createTestDatabase()
  const adminToken = 'test-operator-token-0123456789'
  const config = readConfig({ ...noEnv, rateLimit: 'off', log: 'silent', ...env })
  const opened = await openContext(config, { adminToken, masterKey: Buffer.alloc(32, 7), madeFiles: [] }, database.url)
  const { ctx } = opened
  const app = buildApp(ctx)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    origin,
    baseUrl: `${origin}/v1`,
    ctx,
    databaseUrl: database.url,
    adminToken,
    makeTenant: async (name = 'Test') => {
      const made = await ctx.db.transaction((tx) => openTenant(tx, { name, email: null, roles: null }))
      return { id: made.tenant.id, secretKey: made.secret_key, publishableKey: made.publishable_key }
    },
    close: async () => {
      app.server.closeAllConnections()
      await app.close()
      await opened.close()
      await database.drop()
    },
  }
}

import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '#gateway/app.ts'
import type { ServeMessage } from '#gateway/mcp/add-mcp.ts'
import { readConfig } from '#config/config.ts'
import { readS3Secrets } from '#config/blob-config.ts'
import type { Env } from '#config/env.ts'
import { readStripeSecrets } from '#config/secrets.ts'
import { readTelemetryHeaders } from '#config/telemetry-config.ts'
import { readTurnSecret } from '#config/turn-config.ts'
import type { Context } from '#features/context.ts'
import { openTenant } from '#features/tenants/open-tenant.ts'
import { openContext } from '#processes/open-context.ts'
import { passesOnce } from './busy-machine.ts'
import { createTestDatabase, type TestDatabase } from './test-database.ts'

export interface TestTenant {
  id: string
  secretKey: string
  publishableKey: string
}

export interface TestApi {
  /** With /v1. */
  baseUrl: string
  origin: string
  server: Server
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
    'egress',
    'agentFee',
  ].map((name) => [name, undefined]),
) as Env

/** Starts the whole API in this process, on loopback, over a database of its own, or over that of `env.databaseUrl`. */
export async function startTestApi(env: Partial<Env> = {}, serveMcp?: ServeMessage): Promise<TestApi> {
  const database: TestDatabase =
    env.databaseUrl === undefined ? await createTestDatabase() : { url: env.databaseUrl, drop: async () => undefined }
  const adminToken = 'test-operator-token-0123456789'
  // Made by the first file that is stored.
  const dataDir = join(tmpdir(), `atrium-test-api-${randomUUID()}`)
  const config = readConfig({ ...noEnv, rateLimit: 'off', log: 'silent', dataDir, ...env })
  const stripe = readStripeSecrets({ ...noEnv, ...env })
  const s3 = readS3Secrets({ ...noEnv, ...env })
  const turn = readTurnSecret({ ...noEnv, ...env })
  const otlpHeaders = readTelemetryHeaders({ ...noEnv, ...env })
  const secrets = { adminToken, masterKeys: [Buffer.alloc(32, 7)] as const, stripe, s3, turn, otlpHeaders, madeFiles: [] }
  const opened = await openContext(config, secrets, database.url)
  const { ctx } = opened
  const app = buildApp(ctx, serveMcp)
  await app.listen({ host: '127.0.0.1', port: Number(env.port ?? 0) })
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    origin,
    baseUrl: `${origin}/v1`,
    server: app.server,
    ctx,
    databaseUrl: database.url,
    adminToken,
    // On a busy machine, PostgreSQL may not accept a connection in time.
    makeTenant: async (name = 'Test') => {
      const made = await passesOnce(() => ctx.db.transaction((tx) => openTenant(tx, { name, email: null, roles: null })))
      return { id: made.tenant.id, secretKey: made.secret_key, publishableKey: made.publishable_key }
    },
    close: async () => {
      app.server.closeAllConnections()
      await app.close()
      await opened.close()
      await ctx.tracing?.close()
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

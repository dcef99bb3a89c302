import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { keepRequestsYoung } from '@atrium/traffic/young-requests'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '#gateway/app.ts'
import { listenError } from './assert-ports-free.ts'
import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import { usesDevelopmentIdentity } from './development-identity/development-issuer.ts'
import { openContext } from './open-context.ts'
import { drain } from './stop-server.ts'
import { startSweeper } from './sweeper.ts'

const closePatienceMs = 800

export interface RunningApi {
  port: number
  /** Answers what is in flight, then ends. */
  stop(): Promise<void>
}

/** One API process: listens on the configured port over a database that is migrated already. */
export async function startApi(config: Config, secrets: Secrets, databaseUrl: string): Promise<RunningApi> {
  keepRequestsYoung()
  const opened = await openContext(config, secrets, databaseUrl)
  const { ctx } = opened
  const app = buildApp(ctx)
  try {
    await addDevelopmentSignIn(app, config)
    await app.listen({ host: config.host, port: config.port, backlog: 1_024 })
  } catch (error) {
    await app.close()
    await opened.close()
    throw listenError(error, { name: 'PORT', host: config.host, port: config.port })
  }
  const stopSweeping = startSweeper(ctx)
  return {
    port: (app.server.address() as AddressInfo).port,
    stop: async () => {
      stopSweeping()
      ctx.streams.drain()
      await drain(app)
      // What can no longer be written down, because the database is silent, must not hold up the end.
      await Promise.race([opened.close(), delay(closePatienceMs)])
    },
  }
}

async function addDevelopmentSignIn(app: FastifyInstance, config: Config): Promise<void> {
  if (!usesDevelopmentIdentity(config)) return
  // Loaded where it is on: nowhere else is there code that signs in whoever asks.
  const [{ addDevelopmentIdentity }, { readDevelopmentKey }] = await Promise.all([
    import('./development-identity/add-development-identity.ts'),
    import('./development-identity/read-development-key.ts'),
  ])
  const { production, publicUrl, spacesUrl, dataDir, oidc } = config
  const signingKey = await readDevelopmentKey(dataDir)
  addDevelopmentIdentity(app, {
    production,
    publicUrl,
    redirectOrigins: [spacesUrl, publicUrl],
    signingKey,
    clientId: oidc.clientId,
  })
}

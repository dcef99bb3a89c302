import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { keepOptimisedCode, keepRequestsYoung } from '@atrium/traffic/v8-flags'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '#gateway/app.ts'
import { listenError } from './assert-ports-free.ts'
import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import { developmentClients } from './development-identity/development-issuer.ts'
import { openContext } from './open-context.ts'
import { freeStartMemory } from '#http/collect-large.ts'
import type { Metrics } from '#http/metrics.ts'
import { drain } from './stop-server.ts'
import { startBeat } from './beat.ts'
import { startSweeper } from './sweeper.ts'

const closeTimeoutMs = 800

export interface RunningApi {
  port: number
  metrics: Metrics
  /** Answers requests in progress, then ends. */
  stop(): Promise<void>
}

/** One API process: listens on the configured port. The database must be migrated already. */
export async function startApi(config: Config, secrets: Secrets, databaseUrl: string): Promise<RunningApi> {
  keepRequestsYoung()
  keepOptimisedCode()
  const opened = await openContext(config, secrets, databaseUrl, 'api')
  const { ctx } = opened
  const app = buildApp(ctx)
  try {
    await addDevelopmentSignIn(app, config)
    await app.ready()
    freeStartMemory()
    await app.listen({ host: config.host, port: config.port, backlog: 1_024 })
  } catch (error) {
    await app.close()
    await opened.close()
    throw listenError(error, { name: 'PORT', host: config.host, port: config.port })
  }
  const stopBeat = startBeat(ctx, 'api')
  let stopSweeping = () => undefined as void
  let stopProbe = async () => undefined as void
  await ctx.restoreWindow.whenConfirmed(async () => {
    stopSweeping = startSweeper(ctx)
    if (config.revocationProbe) stopProbe = ctx.revocationProbe.start()
  })
  return {
    port: (app.server.address() as AddressInfo).port,
    metrics: ctx.metrics,
    stop: async () => {
      await ctx.restoreWindow.close()
      stopSweeping()
      ctx.streams.drain()
      await drain(app)
      // Counts that cannot be written because the database does not answer must not delay the end.
      const closeAll = async () => {
        await Promise.all([stopBeat(), stopProbe()])
        await opened.close()
      }
      await Promise.all([Promise.race([closeAll(), delay(closeTimeoutMs)]), ctx.tracing?.close()])
    },
  }
}

async function addDevelopmentSignIn(app: FastifyInstance, config: Config): Promise<void> {
  const clients = developmentClients(config)
  if (clients.length === 0) return
  // Loaded only if it is enabled, so that no other process contains this sign-in code.
  const [{ addDevelopmentIdentity }, { readDevelopmentKey }] = await Promise.all([
    import('./development-identity/add-development-identity.ts'),
    import('./development-identity/read-development-key.ts'),
  ])
  const { production, publicUrl, dataDir } = config
  addDevelopmentIdentity(app, { production, publicUrl, clients, signingKey: await readDevelopmentKey(dataDir) })
}

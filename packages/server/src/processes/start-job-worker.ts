import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import { ArtifactGenerator } from '#features/artifacts/generation/artifact-generator.ts'
import { SessionRunner } from '#features/sessions/running/session-runner.ts'
import { WebhookRunner } from '#features/webhooks/delivering/webhook-runner.ts'
import { freeStartMemory } from '#http/collect-large.ts'
import { openContext } from './open-context.ts'
import { watchInstallation } from './metrics/watch-installation.ts'
import { startBeat } from './beat.ts'
import { startSweeper } from './sweeper.ts'

/**
 * How many sessions of hosted agents one process runs at once, and how many remote agents it launches. Sessions wait
 * for people and providers nearly all of the time.
 */
const maxSessions = 500

/**
 * Does the work that no request waits for: runs agents, generates artifacts, delivers events. Any number of job
 * workers may run, on any machine.
 */
export async function startJobWorker(config: Config, secrets: Secrets, databaseUrl: string) {
  // A job worker answers no requests, so it counts no limits.
  const opened = await openContext({ ...config, redisUrls: [] }, secrets, databaseUrl, 'worker')
  const { ctx } = opened
  // They listen for their work.
  const directUrl = config.database.directUrl ?? databaseUrl
  const sessions = new SessionRunner(ctx, directUrl, maxSessions)
  const generator = new ArtifactGenerator(ctx, directUrl)
  const webhooks = new WebhookRunner(ctx, directUrl)
  watchInstallation(ctx)
  const stopBeat = startBeat(ctx, 'worker')
  freeStartMemory()
  let stopSweeping = () => undefined as void
  await ctx.restoreWindow.whenConfirmed(async () => {
    await sessions.start()
    await generator.start()
    await webhooks.start()
    stopSweeping = startSweeper(ctx)
  })
  return {
    port: 0,
    metrics: ctx.metrics,
    stop: async () => {
      await ctx.restoreWindow.close()
      stopSweeping()
      await Promise.all([sessions.stop(), generator.stop(), webhooks.stop(), stopBeat()])
      await Promise.all([opened.close(), ctx.tracing?.close()])
    },
  }
}

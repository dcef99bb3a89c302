import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import { ArtifactGenerator } from '#features/artifacts/generation/artifact-generator.ts'
import { SessionRunner } from '#features/sessions/running/session-runner.ts'
import { WebhookRunner } from '#features/webhooks/delivering/webhook-runner.ts'
import { openContext } from './open-context.ts'
import { startSweeper } from './sweeper.ts'

/** How many sessions one process runs at once: they wait for people and providers nearly all of the time. */
const maxSessions = 500
/** Making a picture takes a processor and some hundred megabytes for a second or two. */
const maxArtifacts = 2

/**
 * Does the work that no request waits for: runs agents, makes artifacts, delivers events. Any number of these may run,
 * on any machine.
 */
export async function startJobWorker(config: Config, secrets: Secrets, databaseUrl: string) {
  // It answers nobody: there are no limits to count.
  const opened = await openContext({ ...config, redisUrl: undefined }, secrets, databaseUrl)
  const { ctx } = opened
  const sessions = new SessionRunner(ctx, databaseUrl, maxSessions)
  const generator = new ArtifactGenerator(ctx, databaseUrl, maxArtifacts)
  const webhooks = new WebhookRunner(ctx, databaseUrl)
  await sessions.start()
  await generator.start()
  await webhooks.start()
  const stopSweeping = startSweeper(ctx)
  return {
    port: 0,
    stop: async () => {
      stopSweeping()
      await Promise.all([sessions.stop(), generator.stop(), webhooks.stop()])
      await opened.close()
    },
  }
}

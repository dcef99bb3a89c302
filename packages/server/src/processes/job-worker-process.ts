import { fileURLToPath } from 'node:url'
import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import { packStart } from './start-message.ts'
import { superviseProcess, type SupervisedProcess } from './supervise-process.ts'

/** Runs the job worker in a process beside the API, because its work may be heavy and must not delay answers. */
export function startJobWorkerProcess(config: Config, secrets: Secrets, databaseUrl: string): Promise<SupervisedProcess> {
  const path = fileURLToPath(new URL('./job-worker-main.ts', import.meta.url))
  return superviseProcess({ name: 'the job worker', path, env: process.env, start: packStart(config, secrets, databaseUrl) })
}

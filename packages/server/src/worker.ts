import { startApi, type RunningApi } from './api.ts'
import { StartError } from './start-error.ts'
import type { WorkerMessage, WorkerStart } from './workers.ts'

/** One API process of several; workers.ts starts it and tells it what to do. */
let running: RunningApi | undefined
const tell = (message: WorkerMessage) => process.send?.(message)

process.once('message', (start: WorkerStart) => {
  const secrets = { adminToken: start.adminToken, masterKey: Buffer.from(start.masterKey, 'base64'), madeFiles: [] }
  startApi(start.config, secrets, start.databaseUrl).then(
    (api) => {
      running = api
      tell({ listening: api.port })
    },
    (error: Error) => {
      if (!(error instanceof StartError)) console.error(error)
      tell({ failed: error.message })
      process.exit(1)
    },
  )
})

const stop = () => {
  void (running?.stop() ?? Promise.resolve()).finally(() => process.exit(0))
}
process.once('SIGTERM', stop)
// Ctrl-C reaches the whole process group: the primary decides when its workers stop.
process.on('SIGINT', () => undefined)
// Without its primary nobody could stop it.
process.once('disconnect', stop)

import { runAsChild } from './child-start.ts'
import { startJobWorker } from './start-job-worker.ts'

/** The job worker of `atrium start`; job-worker-process.ts starts it. */
runAsChild(startJobWorker)

import { runAsChild } from './child-start.ts'
import { startJobWorker } from './start-job-worker.ts'

/** The job worker of `atrium start`, a child process. See job-worker-process.ts. */
runAsChild(startJobWorker)

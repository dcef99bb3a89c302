import { startApi } from './start-api.ts'
import { runAsChild } from './child-start.ts'

/** One API process of several; workers.ts starts it. */
runAsChild(startApi)

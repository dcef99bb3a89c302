import { startApi } from './start-api.ts'
import { runAsChild } from './child-start.ts'

/** One API process of several; api-cluster.ts starts it. */
runAsChild(startApi)

import { testLogCrashes } from '../support/log-crash.ts'

testLogCrashes(1)

import type { Handlers } from '../handler.ts'
import { getTurnCredentials } from './operations/get-turn-credentials.ts'

export const relayHandlers = { getTurnCredentials } satisfies Partial<Handlers>

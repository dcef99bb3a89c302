import type { Handlers } from '../handler.ts'
import { listEvents } from './operations/list-events.ts'

export const eventHandlers = { listEvents } satisfies Partial<Handlers>

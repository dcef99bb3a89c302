import type { Handlers } from '../handler.ts'
import { streamCollection, streamWall } from './operations/stream-collection.ts'
import { streamEvents } from './operations/stream-events.ts'

export const streamHandlers = { streamCollection, streamEvents, streamWall } satisfies Partial<Handlers>

import type { Handlers } from '../handler.ts'
import { getUsage } from './operations/get-usage.ts'

export const usageHandlers = { getUsage } satisfies Partial<Handlers>

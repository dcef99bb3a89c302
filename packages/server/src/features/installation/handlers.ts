import type { Handlers } from '../handler.ts'
import { resealSecrets } from './operations/reseal-secrets.ts'

export const installationHandlers = { resealSecrets } satisfies Partial<Handlers>

import type { Handlers } from '../handler.ts'
import { createKey } from './operations/create-key.ts'
import { listKeys } from './operations/list-keys.ts'
import { revokeKey } from './operations/revoke-key.ts'

export const keyHandlers = { listKeys, createKey, revokeKey } satisfies Partial<Handlers>

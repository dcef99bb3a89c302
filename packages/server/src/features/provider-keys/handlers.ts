import type { Handlers } from '../handler.ts'
import { getProviderKeys, setProviderKeys } from './operations/provider-keys.ts'

export const providerKeyHandlers = { setProviderKeys, getProviderKeys } satisfies Partial<Handlers>

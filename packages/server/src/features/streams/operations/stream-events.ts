import type { HandlerOf } from '#features/handler.ts'
import { openStream } from '../open-stream.ts'

export const streamEvents: HandlerOf<'streamEvents'> = async (call) => {
  const { tenantId, keyHash } = call
  return openStream(call, { kind: 'tenant', tenantId }, { tenantId, keyHash })
}

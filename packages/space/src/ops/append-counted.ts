import { formatRecord } from '@atrium/sealing/records'
import type { Append, AppendOutcome } from '../rooms/room-writer.ts'
import type { Caller, SpaceContext } from '../space-context.ts'

/** What a line has beside its record: the JWE's other parts. */
const lineFrameBytes = 400

/** Appends, and counts what is written for the caller; nothing where nothing was. Throws SpaceError when they may write no more today. */
export async function appendCounted(ctx: SpaceContext, { key }: Caller, append: Omit<Append, 'payload'>): Promise<AppendOutcome> {
  const payload = formatRecord(append.record)
  const bytes = lineFrameBytes + Math.ceil((Buffer.byteLength(payload) * 4) / 3)
  const takeBack = ctx.use.write(key, bytes)
  let outcome
  try {
    outcome = await ctx.writer.append({ ...append, payload })
  } finally {
    if (outcome?.kind !== 'written') takeBack()
  }
  return outcome
}

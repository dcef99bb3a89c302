import type { Append, AppendOutcome } from '../rooms/room-writer.ts'
import type { Caller, SpaceContext } from '../space-context.ts'

/** What a line has beside its record: the JWE's other parts. */
const lineFrameBytes = 400

/** Appends, and counts what is written for the caller; nothing where nothing was. Throws SpaceError when they may write no more today. */
export async function appendCounted(ctx: SpaceContext, { address }: Caller, append: Append): Promise<AppendOutcome> {
  const bytes = lineFrameBytes + Math.ceil((Buffer.byteLength(JSON.stringify(append.record)) * 4) / 3)
  const takeBack = ctx.use.write(address, bytes)
  let outcome
  try {
    outcome = await ctx.writer.append(append)
  } finally {
    if (outcome?.kind !== 'written') takeBack()
  }
  return outcome
}

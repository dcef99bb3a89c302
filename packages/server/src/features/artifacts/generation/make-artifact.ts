import type { Context } from '#features/context.ts'
import type { Job, Made } from './job.ts'
import { paintPicture } from './paint-picture.ts'
import { produceArtifact } from './produce-artifact.ts'

/** Does the work of a job; gives the bytes and what they are. */
export function makeArtifact(ctx: Context, job: Job, signal: AbortSignal): Promise<Made> {
  return job.work === 'paint' ? paintPicture(ctx, job.tenantId, job.input, signal) : produceArtifact(ctx, job, signal)
}

import sharp from 'sharp'
import type { Context } from '../../../context.ts'
import type { Job, Made } from './job.ts'
import { paintPicture } from './paint-picture.ts'
import { produceArtifact } from './produce-artifact.ts'

export interface Sized extends Made {
  width: number
  height: number
}

/** Does the work of a job; gives the bytes and what they are. */
export async function makeArtifact(ctx: Context, job: Job, signal: AbortSignal): Promise<Sized> {
  const made =
    job.work === 'paint' ? await paintPicture(ctx, job.tenantId, job.input, signal) : await produceArtifact(ctx, job, signal)
  // As they are, not as they were asked for: a provider may make another size.
  const { width, height, pageHeight } = await sharp(made.bytes).metadata()
  return { ...made, width, height: pageHeight ?? height }
}

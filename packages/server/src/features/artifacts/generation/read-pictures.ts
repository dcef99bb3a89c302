import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '#features/context.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { EgressError } from '#ports/egress/egress-error.ts'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { maxHeightRatio } from '@atrium/media/pictures/picture-job'
import type { Pictures } from '@atrium/media/pictures/pictures'
import { cleanWorkBytes, shrinkWorkBytes } from '@atrium/media/pictures/work-bytes'
import type { Artifact } from '../artifact.ts'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { listChosenArtifacts } from '../store.ts'
import { saveBlob } from '../uploads/save-blob.ts'
import { MakingFailed, type ProduceJob } from './job.ts'

/** Held in memory while it is fetched. */
const maxHostedBytes = 16 * 1024 * 1024
const hostedPatienceMs = 15_000
/** Never held, but a clip reads fifty. */
const maxStoredBytes = 64 * 1024 * 1024

export interface Size {
  width: number
  height: number
}

/** How wide a picture of this size is wanted. */
type WidthOf = (size: Size) => number

/** The pictures that were chosen, else the hero's. */
export async function listPictures(
  ctx: Context,
  { tenantId, collectionId, input }: ProduceJob,
  limit: number,
): Promise<Artifact[]> {
  const chosen = { ids: input.artifacts ?? [], hero: !input.artifacts }
  const artifacts = await listChosenArtifacts(ctx.db, tenantId, collectionId, chosen)
  return artifacts.filter((artifact) => artifact.status === 'ready' && isPicture(artifact)).slice(0, limit)
}

function isPicture({ mime, kind }: Artifact): boolean {
  return mime === null ? kind !== 'clip' : mime.startsWith('image/')
}

/**
 * The pictures as WebP, no larger than wanted. One after the other: each is opened and shrunk in a picture process, for it may be a
 * stranger's, and let go of before the next is fetched, so that fifty take no more memory than one.
 */
export async function readPictures(
  ctx: Context,
  job: ProduceJob,
  artifacts: Artifact[],
  widthOf: WidthOf,
  signal: AbortSignal,
): Promise<Buffer[]> {
  const read: Buffer[] = []
  for (const artifact of artifacts) {
    signal.throwIfAborted()
    read.push(await readSmall(ctx, job, artifact, widthOf, signal))
  }
  signal.throwIfAborted()
  return read
}

async function readSmall(
  ctx: Context,
  job: ProduceJob,
  artifact: Artifact,
  widthOf: WidthOf,
  signal: AbortSignal,
): Promise<Buffer> {
  try {
    // Before it takes a folder: there are few, and a host may be slow.
    const hosted = artifact.source === 'url' ? await fetchHosted(ctx, artifact, signal) : undefined
    const { tenantId } = job
    return await ctx.pictures.withFolder(async (folder) => {
      const source = join(folder, 'source')
      if (hosted) await writeFile(source, hosted, { flag: 'wx', mode: 0o600 })
      else await saveStored(ctx, job, artifact, source)
      return await shrink(ctx.pictures, tenantId, { folder, source, widthOf })
    }, tenantId)
  } catch (error) {
    throw failureOf(error, artifact)
  }
}

async function fetchHosted(ctx: Context, { id, url }: Artifact, signal: AbortSignal): Promise<Buffer> {
  const limits = { timeoutMs: hostedPatienceMs, maxAnswerBytes: maxHostedBytes }
  const { status, truncated, body } = await ctx.egress.send({ method: 'GET', url: url!, ...limits, signal })
  if (status !== 200)
    throw new MakingFailed('bad_input', `The address of artifact ${id} gives no picture: it answered ${status}.`)
  if (truncated) throw tooLarge(id, maxHostedBytes)
  return body
}

async function saveStored(ctx: Context, place: ProduceJob, { id, bytes }: Artifact, path: string): Promise<void> {
  if (bytes !== null && bytes > maxStoredBytes) throw tooLarge(id, maxStoredBytes)
  await saveBlob(ctx.blobs, originalKey(place, id), path, maxStoredBytes)
}

interface Shrinking {
  folder: string
  source: string
  widthOf: WidthOf
}

async function shrink(pictures: Pictures, tenantId: string, { folder, source: path, widthOf }: Shrinking): Promise<Buffer> {
  const facts = await pictures.inspect(path, tenantId)
  const lies = facts.orientation > 1
  const upright = lies ? join(folder, 'upright') : path
  // Shrinking leaves it as it lies; cleaning does not.
  const size = lies ? await pictures.clean(path, upright, facts, tenantId) : facts
  const width = Math.max(1, Math.min(widthOf(size), size.width))
  const height = Math.min(maxHeightRatio * width, Math.ceil((width * size.height) / size.width))
  // A stranger's takes as much to be read as to be cleaned.
  const source = { mime: `image/${facts.format}`, width: size.width, height: size.height }
  const workBytes = Math.max(cleanWorkBytes(facts), shrinkWorkBytes(source, width * height, 'webp'))
  const out = join(folder, 'small')
  const sourcePixels = facts.width * facts.height * facts.frames
  await pictures.shrink(upright, out, { width, format: 'webp', sourcePixels }, workBytes, tenantId)
  return readFile(out)
}

function tooLarge(id: string, maxBytes: number): MakingFailed {
  return new MakingFailed('picture_too_large', `The picture of artifact ${id} has more than ${maxBytes / 1024 / 1024} MiB.`)
}

/** What the owner is told where it is the picture's fault; everything else is tried again. */
function failureOf(error: unknown, { id }: Artifact): unknown {
  if (error instanceof EgressError)
    return new MakingFailed('bad_input', `The picture of artifact ${id} cannot be fetched: ${error.message}`)
  if (error instanceof PictureError && error.code !== 'busy')
    return new MakingFailed('bad_input', `The picture of artifact ${id} cannot be read: ${error.message}`)
  if (error instanceof BlobError && error.code === 'mismatch') return tooLarge(id, maxStoredBytes)
  if (error instanceof BlobError && error.code === 'not_found')
    return new MakingFailed('bad_input', `The picture of artifact ${id} is gone.`)
  return error
}

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '#features/context.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { takePictureTurn } from '#ports/painting/picture-work.ts'
import { EgressError } from '#ports/egress/egress-error.ts'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { maxHeightRatio } from '@atrium/media/pictures/picture-job'
import type { Pictures } from '@atrium/media/pictures/pictures'
import { cleanWorkBytes, shrinkWorkBytes } from '@atrium/media/pictures/work-bytes'
import type { Artifact } from '../artifact.ts'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { listChosenArtifacts } from '../store.ts'
import { downloadBlobTo } from '../download-blob-to.ts'
import { GenerationError, type ProduceJob } from './job-store.ts'

/** A hosted picture is in memory while it is fetched. */
const maxHostedBytes = 16 * 1024 * 1024
const hostedTimeoutMs = 15_000
/** For all hosted pictures of a job together: a host that is as slow as it may be would otherwise occupy the job to its end. */
const hostedTotalMs = 60_000
/** A stored picture is never in memory, but a clip reads fifty. */
const maxStoredBytes = 64 * 1024 * 1024

export interface Size {
  width: number
  height: number
}

/** The wanted width of a picture of this size. */
type WidthOf = (size: Size) => number

/** How long the hosts of a job's pictures may still take. */
interface Hosts {
  leftMs: number
}

/** The requested pictures; without a request, the hero. */
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
 * Returns the pictures as WebP, no larger than wanted. A picture process opens and shrinks each, because its bytes are
 * untrusted. Each is freed before the next is fetched, so that fifty pictures take no more memory than one.
 */
export async function readPictures(
  ctx: Context,
  job: ProduceJob,
  artifacts: Artifact[],
  widthOf: WidthOf,
  signal: AbortSignal,
): Promise<Buffer[]> {
  const read: Buffer[] = []
  const hosts = { leftMs: hostedTotalMs }
  for (const artifact of artifacts) {
    signal.throwIfAborted()
    read.push(await readSmall(ctx, job, artifact, { hosts, widthOf, signal }))
  }
  signal.throwIfAborted()
  return read
}

async function readSmall(
  ctx: Context,
  job: ProduceJob,
  artifact: Artifact,
  { hosts, widthOf, signal }: { hosts: Hosts; widthOf: WidthOf; signal: AbortSignal },
): Promise<Buffer> {
  try {
    // Before its turn: a host may be slow.
    const hosted = artifact.source === 'url' ? await fetchHosted(ctx, artifact, hosts, signal) : undefined
    const { tenantId } = job
    const work = async (folder: string) => {
      const source = join(folder, 'source')
      if (hosted) await writeFile(source, hosted, { flag: 'wx', mode: 0o600 })
      else await downloadStored(ctx, job, artifact, source)
      return shrink(ctx.pictures, tenantId, { folder, source, widthOf })
    }
    return await takePictureTurn(tenantId, signal, () => ctx.pictures.withFolder(work, tenantId))
  } catch (error) {
    throw failureOf(error, artifact)
  }
}

async function fetchHosted(ctx: Context, { id, url }: Artifact, hosts: Hosts, signal: AbortSignal): Promise<Buffer> {
  if (url === null) throw new Error(`hosted artifact ${id} has no address`)
  if (hosts.leftMs <= 0)
    throw new GenerationError('bad_input', `The hosts of the pictures took longer than ${hostedTotalMs / 1000} s.`)
  const limits = { timeoutMs: Math.min(hostedTimeoutMs, Math.ceil(hosts.leftMs)), maxAnswerBytes: maxHostedBytes }
  const beganMs = performance.now()
  const { status, truncated, body } = await ctx.egress.send({ method: 'GET', url, ...limits, signal })
  hosts.leftMs -= performance.now() - beganMs
  if (status !== 200)
    throw new GenerationError('bad_input', `The address of artifact ${id} returned status ${status} instead of a picture.`)
  if (truncated) throw tooLarge(id, maxHostedBytes)
  return body
}

async function downloadStored(ctx: Context, job: ProduceJob, { id, bytes }: Artifact, path: string): Promise<void> {
  if (bytes !== null && bytes > maxStoredBytes) throw tooLarge(id, maxStoredBytes)
  await downloadBlobTo(path, ctx.blobs, originalKey(job, id), maxStoredBytes)
}

interface ShrinkJob {
  folder: string
  source: string
  widthOf: WidthOf
}

async function shrink(pictures: Pictures, tenantId: string, { folder, source: path, widthOf }: ShrinkJob): Promise<Buffer> {
  const facts = await pictures.inspect(path, tenantId)
  const isRotated = facts.orientation > 1
  const upright = isRotated ? join(folder, 'upright') : path
  // Cleaning applies the orientation; shrinking ignores it.
  const size = isRotated ? await pictures.clean(path, upright, facts, tenantId) : facts
  const width = Math.max(1, Math.min(widthOf(size), size.width))
  const height = Math.min(maxHeightRatio * width, Math.ceil((width * size.height) / size.width))
  // Reading an untrusted picture takes as much memory as cleaning it.
  const source = { mime: `image/${facts.format}`, width: size.width, height: size.height }
  const workBytes = Math.max(cleanWorkBytes(facts), shrinkWorkBytes(source, width * height, 'webp'))
  const out = join(folder, 'small')
  const sourcePixels = facts.width * facts.height * facts.frames
  await pictures.shrink(upright, out, { width, format: 'webp', sourcePixels }, workBytes, tenantId)
  return readFile(out)
}

function tooLarge(id: string, maxBytes: number): GenerationError {
  return new GenerationError('picture_too_large', `The picture of artifact ${id} is larger than ${maxBytes / 1024 / 1024} MiB.`)
}

/** The error that the owner sees if the picture is at fault. All other errors are retried. */
function failureOf(error: unknown, { id }: Artifact): unknown {
  if (error instanceof EgressError)
    return new GenerationError('bad_input', `The picture of artifact ${id} cannot be fetched: ${error.message}`)
  if (error instanceof PictureError && error.code !== 'busy') {
    // A process that was killed, perhaps because of another picture, ends with the same error.
    const transient = error.code === 'too_slow'
    return new GenerationError('bad_input', `The picture of artifact ${id} cannot be read: ${error.message}`, { transient })
  }
  if (error instanceof BlobError && error.code === 'mismatch') return tooLarge(id, maxStoredBytes)
  if (error instanceof BlobError && error.code === 'not_found')
    return new GenerationError('bad_input', `The picture of artifact ${id} is gone.`)
  return error
}

import { buffer } from 'node:stream/consumers'
import type { Context } from '../../../context.ts'
import { EgressError } from '../../../ports/egress/egress-error.ts'
import { makeCard } from '../../../ports/producing/make-card.ts'
import { makeClip, MAX_CLIP_PICTURES } from '../../../ports/producing/make-clip.ts'
import { ProduceError } from '../../../ports/producing/produce-error.ts'
import { listChosenItems } from '../../items/store.ts'
import type { Artifact } from '../artifact.ts'
import { originalKey } from '../blob-keys.ts'
import { listChosenArtifacts } from '../store.ts'
import { MakingFailed, type Job, type Made } from './job.ts'

type ProduceJob = Extract<Job, { work: 'card' | 'clip' }>

/** A picture that is hosted elsewhere. */
const maxHostedBytes = 16 * 1024 * 1024
const hostedPatienceMs = 15_000
const maxExcerpts = 4

/** A card or a clip out of what the collection holds now. */
export async function produceArtifact(ctx: Context, job: ProduceJob, signal: AbortSignal): Promise<Made> {
  try {
    return job.work === 'card' ? await produceCard(ctx, job, signal) : await produceClip(ctx, job, signal)
  } catch (error) {
    if (error instanceof ProduceError) throw new MakingFailed(error.code, error.message)
    throw error
  }
}

async function produceCard(ctx: Context, job: ProduceJob, signal: AbortSignal): Promise<Made> {
  const { tenantId, collectionId, input } = job
  const { metadata } = await ctx.collections.get(tenantId, collectionId)
  const shareTitle = textOf(metadata['share_title'])
  const items = await listChosenItems(ctx.db, tenantId, collectionId, { ids: input.items ?? [], hero: !input.items })
  const [picture] = await readPictures(ctx, job, 1, signal)
  const title = input.title ?? shareTitle ?? 'Untitled'
  const { png } = await makeCard({
    title,
    subtitle: input.title === undefined ? textOf(metadata['share_description']) : shareTitle,
    excerpts: items.slice(0, maxExcerpts).flatMap(({ type, content, author }) => {
      // What is sealed to the owner's key is not for a card.
      const text = type === 'sealed' ? undefined : excerptOf(content)
      return text === undefined ? [] : [{ text, author: author ?? undefined }]
    }),
    picture,
    theme: metadata['theme'],
    template: input.template,
  })
  return { bytes: png, mime: 'image/png', alt: `Card: ${title}` }
}

async function produceClip(ctx: Context, job: ProduceJob, signal: AbortSignal): Promise<Made> {
  const pictures = await readPictures(ctx, job, MAX_CLIP_PICTURES, signal)
  if (pictures.length === 0)
    throw new MakingFailed('nothing_to_show', 'There is no picture to make a clip of: name artifacts, or set a hero.')
  const { webp } = await makeClip({ pictures })
  return { bytes: webp, mime: 'image/webp', alt: job.input.title ?? `Clip of ${pictures.length} pictures` }
}

/** The pictures that were chosen, else the hero's. */
async function readPictures(
  ctx: Context,
  { tenantId, collectionId, input }: ProduceJob,
  limit: number,
  signal: AbortSignal,
): Promise<Buffer[]> {
  const chosen = { ids: input.artifacts ?? [], hero: !input.artifacts }
  const artifacts = await listChosenArtifacts(ctx.db, tenantId, collectionId, chosen)
  const pictures = artifacts.filter((artifact) => artifact.status === 'ready' && isPicture(artifact)).slice(0, limit)
  const read: Buffer[] = []
  // One after the other: a job holds few pictures at once.
  for (const artifact of pictures) read.push(await readPicture(ctx, { tenantId, collectionId }, artifact, signal))
  return read
}

function isPicture({ mime, kind }: Artifact): boolean {
  return mime === null ? kind !== 'clip' : mime.startsWith('image/')
}

async function readPicture(
  ctx: Context,
  place: { tenantId: string; collectionId: string },
  { id, source, url }: Artifact,
  signal: AbortSignal,
): Promise<Buffer> {
  if (source !== 'url') return buffer((await ctx.blobs.read(originalKey(place, id))).stream)
  try {
    const answer = await ctx.egress.send({
      method: 'GET',
      url: url!,
      timeoutMs: hostedPatienceMs,
      maxAnswerBytes: maxHostedBytes,
      signal,
    })
    if (answer.status === 200 && !answer.truncated) return answer.body
    throw new MakingFailed(
      'bad_input',
      `The address of artifact ${id} gives no picture of up to 16 MiB: it answered ${answer.status}.`,
    )
  } catch (error) {
    if (error instanceof EgressError)
      throw new MakingFailed('bad_input', `The picture of artifact ${id} cannot be fetched: ${error.message}`)
    throw error
  }
}

/** What a card quotes of an item: its text, wherever apps put it most. */
function excerptOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (typeof content !== 'object' || content === null) return undefined
  const { text, message, title } = content as Record<string, unknown>
  return textOf(text) ?? textOf(message) ?? textOf(title)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

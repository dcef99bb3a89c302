import type { Context } from '#features/context.ts'
import { cardPictureWidth } from '@atrium/media/producing/card'
import { makeCard } from '@atrium/media/producing/make-card'
import { clipPictureWidth, makeClip, MAX_CLIP_PICTURES } from '@atrium/media/producing/make-clip'
import { ProduceError } from '@atrium/media/producing/produce-error'
import { listChosenItems } from '#features/items/store.ts'
import { GenerationError, type Generated, type ProduceJob } from './job.ts'
import { listPictures, readPictures, type Size } from './read-pictures.ts'

const maxExcerpts = 4

/** Produces a card or a clip from the current content of the collection. */
export async function produceArtifact(ctx: Context, job: ProduceJob, signal: AbortSignal): Promise<Generated> {
  try {
    return job.kind === 'card' ? await produceCard(ctx, job, signal) : await produceClip(ctx, job, signal)
  } catch (error) {
    if (error instanceof ProduceError) throw new GenerationError(error.code, error.message)
    throw error
  }
}

async function produceCard(ctx: Context, job: ProduceJob, signal: AbortSignal): Promise<Generated> {
  const { tenantId, collectionId, input } = job
  const { metadata } = await ctx.collections.get(tenantId, collectionId)
  const shareTitle = textOf(metadata['share_title'])
  const items = await listChosenItems(ctx.db, tenantId, collectionId, { ids: input.items ?? [], hero: !input.items })
  const [picture] = await readPictures(ctx, job, await listPictures(ctx, job, 1), cardPictureWidth, signal)
  const title = input.title ?? shareTitle ?? 'Untitled'
  const { png, width, height } = await makeCard({
    title,
    subtitle: input.title === undefined ? textOf(metadata['share_description']) : shareTitle,
    excerpts: items.slice(0, maxExcerpts).flatMap(({ type, content, author }) => {
      // Sealed items are ciphertext, which only the owner can open.
      const text = type === 'sealed' ? undefined : excerptOf(content)
      return text === undefined ? [] : [{ text, author: author ?? undefined }]
    }),
    picture,
    theme: metadata['theme'],
    template: input.template,
  })
  return { bytes: png, mime: 'image/png', width, height, alt: `Card: ${title}`, painted: null }
}

async function produceClip(ctx: Context, job: ProduceJob, signal: AbortSignal): Promise<Generated> {
  const artifacts = await listPictures(ctx, job, MAX_CLIP_PICTURES)
  if (artifacts.length === 0)
    throw new GenerationError('nothing_to_show', 'The clip has no pictures: name artifacts, or set a hero.')
  const widthOf = (size: Size) => clipPictureWidth(artifacts.length, size)
  const pictures = await readPictures(ctx, job, artifacts, widthOf, signal)
  const { webp, width, height } = await makeClip({ pictures, signal })
  const alt = job.input.title ?? `Clip of ${pictures.length} pictures`
  return { bytes: webp, mime: 'image/webp', width, height, alt, painted: null }
}

/** The text of an item that a card quotes, from the fields that apps commonly use. */
function excerptOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (typeof content !== 'object' || content === null) return undefined
  const { text, message, title } = content as Record<string, unknown>
  return textOf(text) ?? textOf(message) ?? textOf(title)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

import { isJsonObject } from '@atrium/contract/strict-json'
import { cardPictureWidth } from '@atrium/media/producing/card'
import { ProduceError } from '@atrium/media/producing/produce-error'
import type { Context } from '#features/context.ts'
import { listChosenItems } from '#features/items/store.ts'
import { openProviderKeys } from '#features/provider-keys/provider-keys.ts'
import { PaintError } from '#ports/painting/paint-error.ts'
import type { Painter } from '#ports/painting/painter.ts'
import { takePictureTurn } from '#ports/painting/picture-work.ts'
import { type Generated, GenerationError, type PaintInput, type ProduceJob } from './job-store.ts'
import { type Size, listPictures, readPictures } from './read-pictures.ts'

/**
 * Providers that paint, each with its default model. If a request names no provider, the first of these with a key is
 * used.
 */
const providers = {
  openai: { model: 'gpt-image-1', baseUrl: 'https://api.openai.com/v1' },
  google: { model: 'imagen-4.0-generate-001', baseUrl: 'https://generativelanguage.googleapis.com/v1beta' },
  openai_compatible: { model: 'default', baseUrl: undefined },
} as const

type ProviderName = keyof typeof providers

/**
 * What paints and produces is loaded by the first job that needs it: the libraries take 30 MiB, and most installations
 * are at rest most of the time.
 */
const load = {
  localPainter: () => import('#ports/painting/local-painter.ts'),
  providerPainter: () => import('#ports/painting/provider-painter.ts'),
  card: () => import('@atrium/media/producing/make-card'),
  clip: () => import('@atrium/media/producing/make-clip'),
}

const timeoutMs = 150_000
/** Enough for a picture in base64 within JSON. */
const maxAnswerBytes = 24 * 1024 * 1024

export async function paintPicture(ctx: Context, tenantId: string, input: PaintInput, signal: AbortSignal): Promise<Generated> {
  const { provider, painter } = await choosePainter(ctx, tenantId, input)
  const { prompt, width, height, seed } = input
  try {
    const { bytes, mime, alt, model, ...size } = await painter.paint({ prompt, width, height, seed, signal })
    return { bytes, mime, alt, width: size.width, height: size.height, painted: { provider, model, seed } }
  } catch (error) {
    if (!(error instanceof PaintError)) throw error
    throw new GenerationError(error.code, error.message, { transient: error.code === 'provider_unavailable' })
  }
}

interface ChosenPainter {
  /** The name by which a request asks for it. */
  provider: string
  painter: Painter
}

async function choosePainter(ctx: Context, tenantId: string, input: PaintInput): Promise<ChosenPainter> {
  const { keys, compatibleUrl } = await openProviderKeys(ctx.db, ctx.vault, tenantId)
  const withKey = Object.keys(providers).find((name) => isProvider(name) && keys[name] !== undefined)
  const provider = input.provider ?? withKey ?? 'local'
  if (provider === 'local') {
    const { createLocalPainter } = await load.localPainter()
    return { provider, painter: createLocalPainter(tenantId) }
  }
  if (!isProvider(provider)) throw new GenerationError('provider_refused', `${provider} does not paint pictures.`)
  const apiKey = keys[provider]
  if (apiKey === undefined)
    throw new GenerationError('no_key', `There is no key for ${provider}: set one with PUT /tenant/provider-keys.`)
  const { createProviderPainter } = await load.providerPainter()
  const painter = createProviderPainter({
    provider: provider === 'openai_compatible' ? 'openai-compatible' : provider,
    model: input.model ?? providers[provider].model,
    apiKey,
    // Always passed: without it, an adapter reads an address from the environment of this process, and sends the key
    // there.
    baseUrl: provider === 'openai_compatible' ? compatibleUrl : providers[provider].baseUrl,
    fetch: ctx.egress.fetchWithin({ timeoutMs, maxAnswerBytes }),
    pictures: ctx.pictures,
    tenantId,
    onFault: (error) => ctx.log.error({ err: error }, 'a picture of a provider cannot be opened yet'),
  })
  return { provider, painter }
}

function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(providers, name)
}

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
  const { makeCard } = await load.card()
  const card = {
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
  }
  const { png, width, height } = await takePictureTurn(tenantId, signal, () => makeCard(card))
  return { bytes: png, mime: 'image/png', width, height, alt: `Card: ${title}`, painted: null }
}

async function produceClip(ctx: Context, job: ProduceJob, signal: AbortSignal): Promise<Generated> {
  const { MAX_CLIP_PICTURES, clipPictureWidth, makeClip } = await load.clip()
  const artifacts = await listPictures(ctx, job, MAX_CLIP_PICTURES)
  if (artifacts.length === 0)
    throw new GenerationError('nothing_to_show', 'The clip has no pictures: name artifacts, or set a hero.')
  const widthOf = (size: Size) => clipPictureWidth(artifacts.length, size)
  const pictures = await readPictures(ctx, job, artifacts, widthOf, signal)
  const { webp, width, height } = await takePictureTurn(job.tenantId, signal, () => makeClip({ pictures, signal }))
  const alt = job.input.title ?? `Clip of ${pictures.length} pictures`
  return { bytes: webp, mime: 'image/webp', width, height, alt, painted: null }
}

/** The text of an item that a card quotes, from the fields that apps commonly use. */
function excerptOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!isJsonObject(content)) return undefined
  const { text, message, title } = content
  return textOf(text) ?? textOf(message) ?? textOf(title)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateImage, type ImageModel } from 'ai'
import type { Pictures } from '@atrium/media/pictures/pictures'
import { cutText } from '../model/cut-text.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { assertPaintable, type Painted, type Painter, type PaintRequest } from './painter.ts'
import { readPicture } from './read-picture.ts'
import { toPaintError } from './to-paint-error.ts'

export type ProviderName = 'openai' | 'google' | 'openai-compatible'

export type ProviderPainterOptions = {
  provider: ProviderName
  model: string
  apiKey: string
  /** The provider's base URL. Required for `openai-compatible`. */
  baseUrl?: string | undefined
  /**
   * Sends every request, including one for the address of a picture in an answer. It keeps requests out of the
   * private network.
   */
  fetch: typeof globalThis.fetch
  /**
   * Opens the picture of the provider in a separate process: a tenant chooses the server, so its answers are
   * untrusted.
   */
  pictures: Pictures
  /** The tenant that the picture is for. */
  tenantId: string
  /** Told why a picture that has arrived cannot be opened yet. */
  onFault?: (error: unknown) => void
  timeoutMs?: number
}

const TIMEOUT_MS = 120_000
/** The largest picture is 16 MiB. In base64 within JSON that is 22 MiB. */
const MAX_ANSWER_BYTES = 24 * 1024 * 1024

/**
 * Paints with a provider's model and the tenant's key. Rejects with PaintError, or with the reason of the caller's
 * signal.
 */
export function createProviderPainter(options: ProviderPainterOptions): Painter {
  const model = openModel(options)
  return { paint: async (request) => paint(model, options, request) }
}

async function paint(model: ImageModel, options: ProviderPainterOptions, request: PaintRequest): Promise<Painted> {
  assertPaintable(request)
  const sent = await ask(model, options, request)
  request.signal?.throwIfAborted()
  const { pictures, tenantId, onFault = () => undefined, timeoutMs = TIMEOUT_MS } = options
  const signal = request.signal ?? AbortSignal.timeout(timeoutMs)
  const picture = await readPicture(pictures, sent, { tenantId, signal, onFault })
  return { ...picture, provider: options.provider, model: options.model, seed: request.seed, alt: describe(request.prompt) }
}

async function ask(
  model: ImageModel,
  { provider, model: modelName, timeoutMs = TIMEOUT_MS }: ProviderPainterOptions,
  request: PaintRequest,
): Promise<Uint8Array> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const { image } = await generateImage({
      model,
      prompt: request.prompt,
      ...shapeFor(provider, modelName, request),
      // Retries are the decision of the job, because a second call may be billed again.
      maxRetries: 0,
      abortSignal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
    })
    return image.uint8Array
  } catch (error) {
    request.signal?.throwIfAborted()
    throw toPaintError(error)
  }
}

function openModel({ provider, model, apiKey, baseUrl, fetch }: ProviderPainterOptions): ImageModel {
  const settings = { apiKey, fetch: boundedFetch(fetch, MAX_ANSWER_BYTES) }
  if (provider === 'openai')
    return createOpenAI({ ...settings, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) }).image(model)
  if (provider === 'google')
    return createGoogle({ ...settings, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) }).image(model)
  if (baseUrl === undefined) throw new Error('an OpenAI-compatible provider needs its address')
  return createOpenAICompatible({ ...settings, name: 'compatible', baseURL: baseUrl }).imageModel(model)
}

type Shape = { size?: `${number}x${number}`; aspectRatio?: `${number}:${number}`; seed?: number }

const GPT_SIZES = ['1024x1024', '1536x1024', '1024x1536'] as const
const DALL_E_3_SIZES = ['1024x1024', '1792x1024', '1024x1792'] as const
const GOOGLE_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const

/** Sends only the settings that the model accepts: others would cause a warning on the console, or a rejection. */
function shapeFor(provider: ProviderName, model: string, { width, height, seed }: PaintRequest): Shape {
  if (provider === 'google') return { aspectRatio: nearest(GOOGLE_RATIOS, width / height), seed: seed % 2 ** 31 }
  if (provider === 'openai' && model.startsWith('dall-e-3')) return { size: nearest(DALL_E_3_SIZES, width / height) }
  if (provider === 'openai' && model.startsWith('gpt-image')) return { size: nearest(GPT_SIZES, width / height) }
  return { size: `${width}x${height}` }
}

function nearest<T extends string>(shapes: readonly [T, ...T[]], ratio: number): T {
  const away = (shape: T): number => {
    const [across = 1, down = 1] = shape.split(/[x:]/).map(Number)
    return Math.abs(Math.log(across / down / ratio))
  }
  return shapes.reduce((best, shape) => (away(shape) < away(best) ? shape : best))
}

/** How much of the prompt describes the picture. */
const MAX_WORDS_BYTES = 600

/** Describes the picture by its prompt, because its content is unknown. */
function describe(prompt: string): string {
  const words = prompt.replaceAll(/\s+/g, ' ').trim()
  return `Picture made by a model for the words: ${cutText(words, MAX_WORDS_BYTES)}`
}

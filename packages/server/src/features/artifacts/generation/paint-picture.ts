import type { Context } from '#features/context.ts'
import { PaintError } from '#ports/painting/paint-error.ts'
import type { Painter } from '#ports/painting/painter.ts'
import { createLocalPainter } from '#ports/painting/local-painter.ts'
import { createProviderPainter } from '#ports/painting/provider-painter.ts'
import { openProviderKeys } from '#features/provider-keys/provider-keys.ts'
import { GenerationError, type Generated, type PaintInput } from './job.ts'

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
  const names = Object.keys(providers) as ProviderName[]
  const provider = input.provider ?? names.find((name) => keys[name] !== undefined) ?? 'local'
  if (provider === 'local') return { provider, painter: createLocalPainter() }
  if (!isProvider(provider)) throw new GenerationError('provider_refused', `${provider} does not paint pictures.`)
  const apiKey = keys[provider]
  if (apiKey === undefined)
    throw new GenerationError('no_key', `There is no key for ${provider}: set one with PUT /tenant/provider-keys.`)
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
  })
  return { provider, painter }
}

function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(providers, name)
}

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { maxHeightRatio, type ShrunkFormat } from '@atrium/media/pictures/picture-job'
import type { Pictures } from '@atrium/media/pictures/pictures'
import { shrinkWorkBytes } from '@atrium/media/pictures/work-bytes'
import { originalKey, variantKey } from '#features/blob-deletions/blob-keys.ts'
import { BlobError, type Blobs, type BlobStat } from '#ports/blobs/blobs.ts'
import type { StoredArtifact } from './artifact.ts'
import { downloadBlobTo } from './download-blob-to.ts'

const variantWidths = [320, 640, 1_280, 1_920] as const
/** Cleaning can make a picture larger than its upload. */
const maxSourceBytes = 512 * 1024 * 1024

export interface Variant {
  width: number
  format: ShrunkFormat
}

/** The store does not accept the variant, although its original could be read. */
export class NotStoredError extends Error {}

interface VariantBlob extends BlobStat {
  key: string
  mime: string
}

/**
 * Smaller pictures of artifacts. The first request generates a variant, which is then stored beside the original;
 * concurrent requests wait for the same generation. The work counts for the tenant that owns the artifact: a reader of
 * a share page has no key.
 */
export class Variants {
  readonly #blobs: Blobs
  readonly #pictures: Pictures
  readonly #afterWrite: (artifact: StoredArtifact) => Promise<void>
  readonly #pending = new Map<string, Promise<BlobStat>>()

  /** `afterWrite` deletes what was stored if the artifact was deleted meanwhile. */
  constructor(blobs: Blobs, pictures: Pictures, afterWrite: (artifact: StoredArtifact) => Promise<void>) {
    this.#blobs = blobs
    this.#pictures = pictures
    this.#afterWrite = afterWrite
  }

  /**
   * Throws BlobError if the original is gone or cannot be read, NotStoredError if the variant cannot be stored, and
   * PictureError if it cannot be generated, or not now.
   */
  async get(artifact: StoredArtifact, requested: Variant): Promise<VariantBlob> {
    const variant = clampVariant(artifact, requested)
    const key = variantKey(artifact, artifact.id, variant.width, variant.format)
    const blob = (await this.#blobs.stat(key)) ?? (await this.#generateOnce(key, artifact, variant))
    return { ...blob, key, mime: `image/${variant.format}` }
  }

  #generateOnce(key: string, artifact: StoredArtifact, variant: Variant): Promise<BlobStat> {
    const pending = this.#pending.get(key) ?? this.#generate(key, artifact, variant).finally(() => this.#pending.delete(key))
    this.#pending.set(key, pending)
    return pending
  }

  #generate(key: string, artifact: StoredArtifact, variant: Variant): Promise<BlobStat> {
    const { id, tenantId } = artifact
    return this.#pictures.withFolder(async (folder) => {
      const source = join(folder, 'source')
      await downloadBlobTo(source, this.#blobs, originalKey(artifact, id), maxSourceBytes)
      const out = join(folder, 'variant')
      const target = { ...variant, sourcePixels: sourcePixels(artifact) }
      await this.#pictures.shrink(source, out, target, workBytes(artifact, variant), tenantId)
      const { size: bytes } = await stat(out)
      const stream = createReadStream(out)
      try {
        const blob = await this.#blobs
          .write(key, { stream, bytes }, { mime: `image/${variant.format}` })
          .catch((error: unknown) => {
            if (!(error instanceof BlobError && error.code === 'unavailable')) throw error
            throw new NotStoredError('a smaller picture could not be stored', { cause: error })
          })
        await this.#afterWrite(artifact)
        return blob
      } finally {
        // A failed write does not read the file to its end. An open file keeps its space, even after it is deleted.
        stream.destroy()
      }
    }, tenantId)
  }
}

/**
 * Pictures are never enlarged: every width at or above the picture's own maps to one width, so that one variant is
 * stored.
 */
function clampVariant({ width }: StoredArtifact, requested: Variant): Variant {
  const smallest = variantWidths.find((one) => width !== null && one >= width) ?? requested.width
  return { ...requested, width: Math.min(requested.width, smallest) }
}

/** How many pixels are decoded. An unknown size counts as too many to be quick. */
function sourcePixels({ width, height }: StoredArtifact): number {
  return width === null || height === null ? Infinity : width * height
}

/** The memory that generating the variant takes. An unknown size counts as the largest possible one. */
function workBytes(artifact: StoredArtifact, variant: Variant): number {
  const source = { mime: artifact.mime, width: artifact.width ?? variant.width, height: artifact.height ?? variant.width }
  const height = Math.min(maxHeightRatio * variant.width, Math.ceil((variant.width * source.height) / source.width))
  return shrinkWorkBytes(source, variant.width * height, variant.format)
}

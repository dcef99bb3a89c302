import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Blobs, BlobStat } from '#ports/blobs/blobs.ts'
import type { Pictures } from '@atrium/media/pictures/pictures'
import { originalKey, variantKey } from '#features/blob-deletions/blob-keys.ts'
import { saveBlob } from '../uploads/save-blob.ts'
import type { StoredArtifact } from './stored-artifact.ts'
import { sourcePixels, variantWorkBytes, type Variant } from './variant.ts'

/** Cleaned, a picture may be larger than it was uploaded. */
const maxSourceBytes = 512 * 1024 * 1024

export interface VariantBlob extends BlobStat {
  key: string
  mime: string
}

/**
 * Smaller pictures of artifacts: made when the first one asks, and kept beside the original. Who asks meanwhile waits for the same one. The work
 * counts for the tenant whose artifact it is, whoever asks: readers of a share page have no key.
 */
export class Variants {
  readonly #blobs: Blobs
  readonly #pictures: Pictures
  readonly #making = new Map<string, Promise<BlobStat>>()

  constructor(blobs: Blobs, pictures: Pictures) {
    this.#blobs = blobs
    this.#pictures = pictures
  }

  /** BlobError `not_found` where the original is gone; PictureError where it cannot be made, or not now. */
  async get(artifact: StoredArtifact, variant: Variant): Promise<VariantBlob> {
    const key = variantKey(artifact, artifact.id, variant.width, variant.format)
    const blob = (await this.#blobs.stat(key)) ?? (await this.#makeOnce(key, artifact, variant))
    return { ...blob, key, mime: `image/${variant.format}` }
  }

  #makeOnce(key: string, artifact: StoredArtifact, variant: Variant): Promise<BlobStat> {
    const making = this.#making.get(key) ?? this.#make(key, artifact, variant).finally(() => this.#making.delete(key))
    this.#making.set(key, making)
    return making
  }

  #make(key: string, artifact: StoredArtifact, variant: Variant): Promise<BlobStat> {
    return this.#pictures.withFolder(async (folder) => {
      const source = join(folder, 'source')
      await saveBlob(this.#blobs, originalKey(artifact, artifact.id), source, maxSourceBytes)
      const out = join(folder, 'variant')
      const { tenantId } = artifact
      const to = { ...variant, sourcePixels: sourcePixels(artifact) }
      await this.#pictures.shrink(source, out, to, variantWorkBytes(artifact, variant), tenantId)
      const { size: bytes } = await stat(out)
      return this.#blobs.write(key, { stream: createReadStream(out), bytes }, { mime: `image/${variant.format}` })
    }, artifact.tenantId)
  }
}

import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import type { Blobs } from './blobs.ts'
import { DiskBlobs } from './disk-blobs.ts'
import { deriveBlobUrlKey } from './disk/blob-url.ts'

type BlobSettings = Pick<Config, 'blobs' | 'dataDir' | 'publicUrl'>

/** Opens the configured blob store. */
export async function openBlobs(
  { blobs, dataDir, publicUrl }: BlobSettings,
  { masterKeys, s3 }: Pick<Secrets, 'masterKeys' | 's3'>,
): Promise<Blobs> {
  if (blobs.store === 'disk') {
    return new DiskBlobs({ folder: join(dataDir, 'blobs'), publicUrl, urlKeys: masterKeys.map(deriveBlobUrlKey) })
  }
  // Loaded on demand, because it takes longer to load than everything else.
  const { S3Blobs } = await import('./s3-blobs.ts')
  return new S3Blobs({ ...blobs, ...s3 })
}

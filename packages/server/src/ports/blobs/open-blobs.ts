import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import type { Blobs } from './blobs.ts'
import { DiskBlobs } from './disk-blobs.ts'
import { deriveBlobUrlKey } from './disk/blob-url.ts'

type BlobSettings = Pick<Config, 'blobs' | 'dataDir' | 'publicUrl'>

/** The store that is configured. */
export async function openBlobs(
  { blobs, dataDir, publicUrl }: BlobSettings,
  { masterKeys, s3 }: Pick<Secrets, 'masterKeys' | 's3'>,
): Promise<Blobs> {
  if (blobs.store === 'disk') {
    return new DiskBlobs({ folder: join(dataDir, 'blobs'), publicUrl, urlKeys: masterKeys.map(deriveBlobUrlKey) })
  }
  // Loaded when used: it takes longer than all the rest.
  const { S3Blobs } = await import('./s3-blobs.ts')
  if (!s3) throw new Error('the object storage has no keys')
  return new S3Blobs({ ...blobs, ...s3 })
}

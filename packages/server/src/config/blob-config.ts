import { StartError } from '#errors/start-error.ts'
import type { Env } from './env.ts'

export type BlobConfig = { store: 'disk' } | S3Config

export interface S3Config {
  store: 's3'
  /** Origin of the store. Browsers must reach it too. */
  endpoint: string
  bucket: string
  region: string
}

export interface S3Secrets {
  accessKeyId: string
  secretAccessKey: string
}

export function readBlobConfig(env: Env): BlobConfig {
  const store = env.blobs ?? 'disk'
  if (store === 'disk') return { store }
  if (store !== 's3') throw new StartError(`ATRIUM_BLOBS must be disk or s3, not "${store}"`)
  return {
    store,
    endpoint: endpoint(needed('S3_ENDPOINT', env.s3Endpoint)),
    bucket: bucket(needed('S3_BUCKET', env.s3Bucket)),
    region: needed('S3_REGION', env.s3Region),
  }
}

/** undefined: not S3, or the credentials come from the standard chain (ports/aws/credentials.ts). */
export function readS3Secrets(env: Env): S3Secrets | undefined {
  if (env.blobs !== 's3' || (!env.s3AccessKeyId && !env.s3SecretAccessKey)) return undefined
  if (!env.s3AccessKeyId) throw new StartError('S3_ACCESS_KEY_ID must be set when S3_SECRET_ACCESS_KEY is')
  if (!env.s3SecretAccessKey) throw new StartError('S3_SECRET_ACCESS_KEY must be set when S3_ACCESS_KEY_ID is')
  return { accessKeyId: env.s3AccessKeyId, secretAccessKey: env.s3SecretAccessKey }
}

function needed(name: string, value: string | undefined): string {
  if (!value) throw new StartError(`${name} must be set when ATRIUM_BLOBS is s3`)
  return value
}

function endpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url && ['http:', 'https:'].includes(url.protocol) && !url.username && url.pathname === '/' && !url.search
  // The value is not quoted, because it may contain a password.
  if (!plain) throw new StartError('S3_ENDPOINT must be an origin such as https://s3.eu-central-1.amazonaws.com')
  return url.origin
}

function bucket(text: string): string {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text))
    throw new StartError(`S3_BUCKET must be the name of a bucket, not "${text}"`)
  return text
}

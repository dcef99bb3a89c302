import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { SignedUpload, UploadTerms } from '../blobs.ts'

export interface S3Place {
  Bucket: string
  Key: string
}

export async function presignPut(client: S3Client, place: S3Place, terms: UploadTerms): Promise<SignedUpload> {
  const { mime, bytes, sha256, expiresInSeconds: expiresIn } = terms
  const checksum = sha256 === undefined ? undefined : Buffer.from(sha256, 'hex').toString('base64')
  const command = new PutObjectCommand({
    ...place,
    ContentType: mime,
    ContentLength: bytes,
    ...(checksum === undefined ? {} : { ChecksumSHA256: checksum }),
  })
  const headers = {
    'content-type': mime,
    'content-length': String(bytes),
    ...(checksum === undefined ? {} : { 'x-amz-checksum-sha256': checksum }),
  }
  const names = Object.keys(headers)
  const expiresAt = new Date(Date.now() + expiresIn * 1_000)
  const url = await getSignedUrl(client, command, {
    expiresIn,
    // By default the presigner does not sign the type, and moves the checksum into the query, which some stores ignore.
    signableHeaders: new Set(['host', ...names]),
    unhoistableHeaders: new Set(names),
  })
  return { method: 'PUT', url, headers, expiresAt }
}

import { access, constants, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import { dataFolderError, makeFolder, type Secrets } from '#config/secrets.ts'
import { StartError } from '#errors/start-error.ts'
import { codeOf, messageOf } from '#errors/caught.ts'
import { CredentialsError } from '#ports/aws/credentials-error.ts'
import { statusOf } from './s3/s3-errors.ts'

/**
 * Stops the start if the blob store cannot be used, with one line that names the setting. Checked once and not in each
 * process, because a process that is replaced during an outage of the store must still start.
 */
export async function checkBlobs({ blobs, dataDir }: Config, { s3 }: Pick<Secrets, 's3'>): Promise<void> {
  if (blobs.store === 'disk') return checkFolder(dataDir)
  const { S3Blobs } = await import('./s3-blobs.ts')
  const store = new S3Blobs({ ...blobs, ...s3 })
  try {
    await store.check()
  } catch (error) {
    throw s3StartError(error, s3 !== undefined)
  } finally {
    store.close()
  }
}

async function checkFolder(dataDir: string): Promise<void> {
  await makeFolder(dataDir)
  const folder = join(dataDir, 'blobs')
  try {
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw await dataFolderError(folder, error)
  }
}

/** A store answers a HEAD of a bucket without a body, so only the status is available. */
function s3StartError(error: unknown, hasKeys: boolean): StartError {
  const [status, code, message] = [statusOf(error), codeOf(error), messageOf(error)]
  if (error instanceof CredentialsError) return new StartError(`S3_ACCESS_KEY_ID is not set, and ${message}`)
  if (status === 403 && !hasKeys)
    return new StartError(
      'S3_BUCKET: the store at S3_ENDPOINT refuses the credentials of the standard chain (AWS_… variables, shared files, roles)',
    )
  if (status === 403)
    return new StartError('S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: the store at S3_ENDPOINT refuses them for S3_BUCKET')
  if (status === 404) return new StartError('S3_BUCKET: there is no such bucket at S3_ENDPOINT')
  if (status === 301 || status === 400) return new StartError('S3_REGION: the store at S3_ENDPOINT has S3_BUCKET in another one')
  return new StartError(`S3_ENDPOINT: the store cannot be used (${status ?? code ?? message})`)
}

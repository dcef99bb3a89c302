import { createPrivateKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { StartError } from '#errors/start-error.ts'
import { codeOf, messageOf } from '#errors/caught.ts'

const fileName = 'dev-identity-key'

/**
 * The key that signs ID tokens. It is created once and kept in the data folder, so that a restart keeps people
 * signed in.
 */
export async function readDevelopmentKey(dataDir: string): Promise<KeyObject> {
  const path = join(dataDir, fileName)
  const key = parse(await readOrMake(path))
  if (key?.asymmetricKeyType !== 'rsa') throw new StartError(`${path} is not an RSA key; remove it to create a new one`)
  return key
}

async function readOrMake(path: string): Promise<string> {
  try {
    if (!existsSync(path)) await make(path)
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new StartError(`ATRIUM_DATA_DIR: ${path} cannot be kept: ${messageOf(error)}`)
  }
}

/**
 * Writes the key to a temporary file and links it: of two processes that start at once, both use the key that was
 * linked first, and never read half of it.
 */
async function make(path: string): Promise<void> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  await mkdir(join(path, '..'), { recursive: true })
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(privateKey.export({ format: 'pem', type: 'pkcs8' }))
    await file.sync()
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await file.close()
    await unlink(draft)
  }
}

function parse(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined // The remedy is the same for every error of OpenSSL.
  }
}

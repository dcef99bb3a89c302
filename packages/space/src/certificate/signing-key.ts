import { createPrivateKey, generateKeyPairSync, hkdfSync, type KeyObject, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'

export interface SigningKeyOptions {
  /** What ATRIUM_SPACE_SIGNING_KEY holds: PKCS#8 PEM, or a JWK as JSON. */
  readonly variable?: string | undefined
  readonly dataDir: string
}

/** The certificate's private key: from the variable, else made once and kept in the data folder, readable by its owner alone. */
export async function readSigningKey({ variable, dataDir }: SigningKeyOptions): Promise<KeyObject> {
  if (variable?.trim()) return parseSigningKey(variable, 'ATRIUM_SPACE_SIGNING_KEY')
  const path = join(dataDir, 'space-signing-key')
  await mkdir(dataDir, { recursive: true })
  const text = (await readIfThere(path)) ?? (await makeOnce(path))
  return parseSigningKey(text, path)
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Errors name where the key came from and never quote it. */
function parseSigningKey(text: string, origin: string): KeyObject {
  const key = importKey(text.trim())
  if (key?.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  throw new Error(`${origin} must be the private key of an EC P-256 pair, as PKCS#8 PEM or as JWK`)
}

function importKey(text: string): KeyObject | undefined {
  try {
    if (text.startsWith('{')) return createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
    // Env files and orchestrators often carry a PEM's line ends as the two characters \n.
    return createPrivateKey({ key: text.replaceAll('\\n', '\n'), format: 'pem' })
  } catch {
    return undefined
  }
}

/** The file appears whole or not at all: of two processes that start at once, one makes it and both then read the same. */
async function makeOnce(path: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const draft = `${path}.${randomUUID()}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    await file.sync()
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await file.close()
    await unlink(draft)
  }
  return readFile(path, 'utf8')
}

/** A secret for another purpose, the same in every process that has the key. It tells nothing of the key. */
export function secretOf(signingKey: KeyObject, purpose: string): string {
  const { d = '' } = signingKey.export({ format: 'jwk' })
  return Buffer.from(hkdfSync('sha256', d, '', purpose, 32)).toString('base64url')
}

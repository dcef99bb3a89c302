import { createPrivateKey, generateKeyPairSync, hkdfSync, type KeyObject, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'

export interface SigningKeyOptions {
  /** The forms of ATRIUM_SPACE_SIGNING_KEY: PKCS#8 PEM, or a JWK as JSON. */
  readonly variable?: string | undefined
  readonly dataDir: string
}

/**
 * The certificate's private key: from the variable, or else created once in the data folder, readable only by its
 * owner.
 */
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

/** Errors name the source of the key and never quote it. */
function parseSigningKey(text: string, origin: string): KeyObject {
  const key = importKey(text.trim())
  if (key?.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  throw new Error(`${origin} must be the private key of an EC P-256 pair, as PKCS#8 PEM or as JWK`)
}

function importKey(text: string): KeyObject | undefined {
  try {
    if (text.startsWith('{')) return createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
    // Env files and orchestrators often encode line ends of a PEM as the two characters \n.
    return createPrivateKey({ key: text.replaceAll('\\n', '\n'), format: 'pem' })
  } catch {
    return undefined
  }
}

/** Creates the file atomically: of two processes that start at once, one creates it, and both read the same key. */
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

/** A secret for another purpose, the same in every process with this key. It discloses nothing about the key. */
export function secretOf(signingKey: KeyObject, purpose: string): string {
  const { d = '' } = signingKey.export({ format: 'jwk' })
  return Buffer.from(hkdfSync('sha256', d, '', purpose, 32)).toString('base64url')
}

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from '../start-error.ts'
import { readS3Secrets, type S3Secrets } from './blob-config.ts'
import type { Env } from './env.ts'
import { readTurnSecret } from './turn-config.ts'

export interface Secrets {
  adminToken: string
  /** 32 bytes each. The first one seals; what was sealed under the others still opens. */
  masterKeys: MasterKeys
  /** undefined: Stripe is not used. */
  stripe: StripeSecrets | undefined
  /** undefined: files are kept on disk. */
  s3: S3Secrets | undefined
  /** Shared with the relay; undefined: there is none. */
  turn: string | undefined
  /** Files that this start made. */
  madeFiles: string[]
}

export type MasterKeys = readonly [Buffer, ...Buffer[]]

export interface StripeSecrets {
  secretKey: string
  webhookSecret: string
}

/** Takes the secrets from the environment; what is absent is made once and kept in the data folder, readable by its owner alone. */
export async function readSecrets(env: Env, dataDir: string): Promise<Secrets> {
  const stripe = readStripeSecrets(env)
  const s3 = readS3Secrets(env)
  const turn = readTurnSecret(env)
  const madeFiles: string[] = []
  const keep = async (name: string, make: () => string) => {
    const path = join(dataDir, name)
    const { text, made } = await readOrMake(path, make)
    if (made) madeFiles.push(path)
    return text
  }
  const adminToken = env.adminToken ?? (await keep('admin-token', () => randomBytes(32).toString('base64url')))
  const masterKeys = env.masterKey ?? (await keep('master-key', () => randomBytes(32).toString('base64')))
  if (adminToken.length < 16) throw new StartError('ATRIUM_ADMIN_TOKEN must have at least 16 characters')
  return { adminToken, masterKeys: decodeMasterKeys(masterKeys), stripe, s3, turn, madeFiles }
}

/** Neither is echoed when it is wrong. */
export function readStripeSecrets({ stripeSecretKey, stripeWebhookSecret }: Env): StripeSecrets | undefined {
  if (!stripeSecretKey && !stripeWebhookSecret) return undefined
  if (!stripeSecretKey) throw new StartError('STRIPE_SECRET_KEY must be set when STRIPE_WEBHOOK_SECRET is')
  if (!stripeWebhookSecret) throw new StartError('STRIPE_WEBHOOK_SECRET must be set when STRIPE_SECRET_KEY is')
  if (!/^[sr]k_\w+$/.test(stripeSecretKey)) throw new StartError('STRIPE_SECRET_KEY must start with sk_ or rk_')
  if (!/^whsec_\S+$/.test(stripeWebhookSecret)) throw new StartError('STRIPE_WEBHOOK_SECRET must start with whsec_')
  return { secretKey: stripeSecretKey, webhookSecret: stripeWebhookSecret }
}

/** One, or several between commas or, in the file, one a line. */
function decodeMasterKeys(text: string): MasterKeys {
  const [first, ...others] = text.split(/[\s,]+/).map(decodeMasterKey)
  return [first!, ...others]
}

function decodeMasterKey(text: string): Buffer {
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32 || key.toString('base64') !== text)
    throw new StartError('ATRIUM_MASTER_KEY must be the base64 of exactly 32 bytes, or several of these with commas between them')
  return key
}

export async function makeFolder(path: string): Promise<void> {
  // Asked for step by step, since Node's own recursive way never ends in places like /proc.
  const missing: string[] = []
  for (let at = path; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.push(at)
  try {
    for (const folder of missing.toReversed()) await mkdir(folder).catch(unlessThere)
    if (!(await stat(path)).isDirectory()) throw new Error('it is no folder')
  } catch (error) {
    throw new StartError(
      `ATRIUM_DATA_DIR: ${path} cannot be used (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`,
    )
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

async function readOrMake(path: string, make: () => string): Promise<{ text: string; made: boolean }> {
  await makeFolder(join(path, '..'))
  try {
    // wx: of two processes that start at once, one makes the file and the other reads it.
    const file = await open(path, 'wx', 0o600)
    const text = make()
    await file.writeFile(`${text}\n`)
    await file.sync()
    await file.close()
    return { text, made: true }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new StartError(`ATRIUM_DATA_DIR: ${path} cannot be written (${code ?? 'unknown'})`)
    const text = (await readFile(path, 'utf8')).trim()
    if (!text) throw new StartError(`${path} is empty; remove it so that a new one is made, or restore it`)
    return { text, made: false }
  }
}

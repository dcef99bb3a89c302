import { codeOf, messageOf } from '#errors/caught.ts'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '#errors/start-error.ts'
import { readS3Secrets, type S3Secrets } from './blob-config.ts'
import type { Env } from './env.ts'
import { readTelemetryHeaders } from './telemetry-config.ts'
import { readTurnSecret } from './turn-config.ts'

export interface Secrets {
  adminToken: string
  /** 32 bytes each. The first one seals; the others only open. */
  masterKeys: MasterKeys
  /** undefined if Stripe is not used. */
  stripe: StripeSecrets | undefined
  /** undefined if blobs are stored on disk, or the credentials come from the standard chain. */
  s3: S3Secrets | undefined
  /** The secret shared with the relay; undefined without one. */
  turn: string | undefined
  /** What is sent to the collector with each export; undefined: nothing. */
  otlpHeaders: Record<string, string> | undefined
  /** The secret files that this start created. */
  madeFiles: string[]
}

export type MasterKeys = readonly [Buffer, ...Buffer[]]

export interface StripeSecrets {
  secretKey: string
  webhookSecret: string
}

const masterKeyFile = 'master-key'

/** The secrets from the environment. */
export interface GivenSecrets extends Pick<Secrets, 'stripe' | 's3' | 'turn' | 'otlpHeaders'> {
  adminToken: string | undefined
  masterKeys: MasterKeys | undefined
}

/** Reads the environment. A wrong value stops the start before any file is created. */
export function readGivenSecrets(env: Env): GivenSecrets {
  const { adminToken, masterKey } = env
  return {
    adminToken: adminToken === undefined ? undefined : longEnough(adminToken),
    masterKeys: masterKey === undefined ? undefined : decodeMasterKeys(masterKey, 'ATRIUM_MASTER_KEY'),
    stripe: readStripeSecrets(env),
    s3: readS3Secrets(env),
    turn: readTurnSecret(env),
    otlpHeaders: readTelemetryHeaders(env),
  }
}

/**
 * Secrets that are not in the environment are created once and stored in the data folder, readable only by its owner. A
 * master key is created only if `mayMakeMasterKey` allows it: a new key could not open the sealed values of a database.
 */
export async function keepSecrets(
  given: GivenSecrets,
  dataDir: string,
  mayMakeMasterKey: () => Promise<boolean>,
): Promise<Secrets> {
  const madeFiles: string[] = []
  const keep = async (name: string, make: () => string) => {
    const path = join(dataDir, name)
    const { text, made } = await readOrMake(path, make)
    if (made) madeFiles.push(path)
    return text
  }
  const keepMasterKey = async () => {
    const path = join(dataDir, masterKeyFile)
    // Checked again after the database, because another process that starts at the same time may have created both.
    if (!existsSync(path) && !(await mayMakeMasterKey()) && !existsSync(path)) throw missingMasterKey(path)
    return decodeMasterKeys(await keep(masterKeyFile, () => randomBytes(32).toString('base64')), path)
  }
  const masterKeys = given.masterKeys ?? (await keepMasterKey())
  const adminToken = given.adminToken ?? longEnough(await keep('admin-token', () => randomBytes(32).toString('base64url')))
  return { ...given, adminToken, masterKeys, madeFiles }
}

/** The keys in the data folder; undefined if it has none. Creates nothing. */
export async function readMasterKeyFile(dataDir: string): Promise<MasterKeys | undefined> {
  const path = join(dataDir, masterKeyFile)
  try {
    return decodeMasterKeys((await readFile(path, 'utf8')).trim(), path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error instanceof StartError ? error : await dataFolderError(path, error)
  }
}

/** Removes the file of the master key if this start created it. */
export async function forgetMadeMasterKey({ madeFiles }: Secrets): Promise<void> {
  await Promise.all(madeFiles.filter((path) => basename(path) === masterKeyFile).map((path) => rm(path, { force: true })))
}

function missingMasterKey(path: string): StartError {
  return new StartError(
    `the master key is missing: ${path} does not exist, and the database contains values that are sealed under it. ` +
      'Put the file back, or set ATRIUM_MASTER_KEY to that key (docs/master-key.md)',
  )
}

function longEnough(adminToken: string): string {
  if (adminToken.length < 16) throw new StartError('ATRIUM_ADMIN_TOKEN must have at least 16 characters')
  return adminToken
}

/** Wrong values are not quoted. */
export function readStripeSecrets({ stripeSecretKey, stripeWebhookSecret }: Env): StripeSecrets | undefined {
  if (!stripeSecretKey && !stripeWebhookSecret) return undefined
  if (!stripeSecretKey) throw new StartError('STRIPE_SECRET_KEY must be set when STRIPE_WEBHOOK_SECRET is')
  if (!stripeWebhookSecret) throw new StartError('STRIPE_WEBHOOK_SECRET must be set when STRIPE_SECRET_KEY is')
  if (!/^[sr]k_\w+$/.test(stripeSecretKey)) throw new StartError('STRIPE_SECRET_KEY must start with sk_ or rk_')
  if (!/^whsec_\S+$/.test(stripeWebhookSecret)) throw new StartError('STRIPE_WEBHOOK_SECRET must start with whsec_')
  return { secretKey: stripeSecretKey, webhookSecret: stripeWebhookSecret }
}

/** One, or several between commas or, in the file, one a line. `origin` is the variable or the path of the file. */
function decodeMasterKeys(text: string, origin: string): MasterKeys {
  const [first = '', ...others] = text.split(/[\s,]+/)
  return [decodeMasterKey(first, origin), ...others.map((other) => decodeMasterKey(other, origin))]
}

function decodeMasterKey(text: string, origin: string): Buffer {
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32 || key.toString('base64') !== text)
    throw new StartError(`${origin} must be the base64 of exactly 32 bytes, or several of these with commas between them`)
  return key
}

export async function makeFolder(path: string): Promise<void> {
  // Folder by folder, because Node's recursive mkdir never ends in places like /proc.
  const missing: string[] = []
  for (let at = path; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.push(at)
  try {
    for (const folder of missing.toReversed()) await mkdir(folder).catch(unlessThere)
    if (!(await stat(path)).isDirectory()) throw new Error('it is not a folder')
  } catch (error) {
    throw await dataFolderError(path, error)
  }
}

/** The error for a folder of the data that cannot be used, with what to do. */
export async function dataFolderError(path: string, error: unknown): Promise<StartError> {
  const code = codeOf(error)
  const said = `ATRIUM_DATA_DIR: ${path} cannot be used (${code ?? messageOf(error)})`
  if (code !== 'EACCES' && code !== 'EPERM') return new StartError(said)
  const me = process.getuid?.()
  const owner = await ownerOf(path)
  if (owner === undefined || me === undefined || owner.uid === me)
    return new StartError(`${said}: its permissions refuse this user; change them, or set ATRIUM_DATA_DIR to another folder`)
  return new StartError(
    `${said}: ${owner.path} belongs to another user (uid ${owner.uid}, and this one is ${me}); start as that user, or set ATRIUM_DATA_DIR to a folder of your own`,
  )
}

/** The owner of the path, or of the nearest folder above it that this user can see. */
async function ownerOf(path: string): Promise<{ path: string; uid: number } | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found) return { path, uid: found.uid }
  return dirname(path) === path ? undefined : ownerOf(dirname(path))
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** Waits up to 1 s for another process that has made the file, and has not written it yet. */
async function readWritten(path: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const text = (await readFile(path, 'utf8')).trim()
    if (text || tries === 20) return text
    await delay(50)
  }
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
    if (codeOf(error) !== 'EEXIST') throw await dataFolderError(path, error)
    const text = await readWritten(path).catch(async (fault) => Promise.reject(await dataFolderError(path, fault)))
    if (!text) throw new StartError(`${path} is empty; remove it to create a new one, or restore it`)
    return { text, made: false }
  }
}

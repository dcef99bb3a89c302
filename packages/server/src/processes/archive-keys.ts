import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type EcPublicJwk, thumbprint } from '@atrium/identity/thumbprint'
import { readSpaceSigningKey } from '#config/env.ts'
import type { MasterKeys } from '#config/secrets.ts'
import { Vault } from '#crypto/vault/vault.ts'
import { codeOf, messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import type { BackupHeader } from '#features/backup/manifest.ts'

const page = 'docs/operating/backup.md'

export interface FoundSpaceKey {
  /** RFC 7638, as `atrium verify` prints it. */
  thumbprint: string
  /** The variable or the file. */
  origin: string
}

/** The signing key of Space, if it is in the environment or the data folder. Throws StartError if it cannot be read. */
export async function findSpaceKey(dataDir: string): Promise<FoundSpaceKey | undefined> {
  const given = readSpaceSigningKey()
  const origin = given === undefined ? path.join(dataDir, 'space-signing-key') : 'ATRIUM_SPACE_SIGNING_KEY'
  const text = given ?? (await readIfThere(origin))
  if (text === undefined) return undefined
  const key = importKey(text.trim())
  if (key?.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new StartError(`${origin} must be the private key of an EC P-256 pair, as PKCS#8 PEM or as JWK`)
  return { thumbprint: thumbprint(createPublicKey(key).export({ format: 'jwk' }) as EcPublicJwk), origin }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new StartError(`ATRIUM_DATA_DIR: ${file} cannot be read: ${messageOf(error)}`)
  }
}

/** The forms that the Space service accepts. */
function importKey(text: string): KeyObject | undefined {
  try {
    if (text.startsWith('{')) return createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
    return createPrivateKey({ key: text.replaceAll('\\n', '\n'), format: 'pem' })
  } catch {
    return undefined
  }
}

const ofAnswers = 'stored answers of requests with an Idempotency-Key'

/** What `atrium backup` prints: the keys that the archive does not contain. */
export function describeMissing({ keys }: BackupHeader, space: FoundSpaceKey | undefined): string[] {
  return [
    'Keep these apart from the archive, which does not contain them:',
    ...(keys.master.length > 0 ? [`- master key ${keys.master.join(', ')}`] : []),
    ...(keys.answers ?? []).map((id) => `- master key ${id}, for a day: only ${ofAnswers} need it`),
    space
      ? `- signing key of Space ${space.thumbprint}, from ${space.origin}`
      : '- signing key of Space, which is not on this machine',
    '- admin token and the other settings',
  ]
}

interface FoundKeys {
  masterKeys: MasterKeys | undefined
  /** The variable that they come from; undefined: the file in the data folder. */
  masterOrigin: string | undefined
  space: FoundSpaceKey | undefined
  dataDir: string
}

export interface KeyReport {
  /** One line for each key that the archive does not contain. */
  lines: string[]
  /** Why the restore must not begin. */
  refusal: StartError | undefined
  /** What the operator has to know before the restored database is served. */
  warning: string | undefined
}

/** Compares the keys that the archive needs with those that this installation has. Changes nothing. */
export function compareKeys({ keys }: BackupHeader, found: FoundKeys): KeyReport {
  const master = compareMasterKeys(keys, found)
  const space = compareSpaceKeys(keys.space, found.space, found.dataDir)
  const token = path.join(found.dataDir, 'admin-token')
  const lines = [
    master.line,
    ...(keys.answers ?? [])
      .filter((id) => !idsOf(found).includes(id))
      .map((id) => `- master key ${id}: it is not here; only ${ofAnswers} need it, which expire within a day`),
    space.line,
    `- admin token: set ATRIUM_ADMIN_TOKEN, or put the file into ${token}; a new one is fine`,
  ]
  const refusal = master.refusal ?? space.refusal
  return {
    lines,
    refusal: refusal === undefined ? undefined : new StartError(`${refusal} (${page})`),
    warning: master.warning,
  }
}

interface Compared {
  line: string
  refusal?: string
  warning?: string
}

const idsOf = ({ masterKeys }: FoundKeys) => (masterKeys ? new Vault(masterKeys).keyIds.map((id) => id.toString('hex')) : [])

/**
 * Only the key that every start needs is required. Another one may be lost for ever, or an archive of an earlier release
 * names it for stored answers alone.
 */
function compareMasterKeys({ master: needed, check }: BackupHeader['keys'], found: FoundKeys): Compared {
  if (needed.length === 0) return { line: '✓ master key: the archive has no sealed values, so any key is good' }
  const there = idsOf(found)
  const missing = needed.filter((id) => !there.includes(id))
  const file = path.join(found.dataDir, 'master-key')
  const origin = found.masterOrigin ?? file
  if (missing.length === 0) return { line: `✓ master key ${needed.join(', ')}: ${origin} has it` }
  const state = found.masterKeys ? `the configured keys are ${there.join(', ')} (${origin})` : 'no key is configured'
  const line = `✗ master key ${missing.join(', ')}: ${state}`
  const canStart = check === undefined ? missing.length < needed.length : there.includes(check)
  if (canStart) {
    const warning =
      `✗ Values that are sealed under the master key ${missing.join(', ')} cannot be opened, because ${state}. ` +
      'If you have that key, put it behind the first one, with a comma between them, before you confirm the window'
    return { line, warning }
  }
  return {
    line,
    refusal:
      `ATRIUM_MASTER_KEY: the archive needs the master key ${missing.join(', ')}, but ${state}. ` +
      `Set ATRIUM_MASTER_KEY to the key of the archive, or to several with commas between them, or put its file into ${file}`,
  }
}

/** A missing key does not stop a restore, because Space may run on another machine. */
function compareSpaceKeys(needed: string | null | undefined, found: FoundSpaceKey | undefined, dataDir: string): Compared {
  const file = path.join(dataDir, 'space-signing-key')
  const bring = `before Space starts, set ATRIUM_SPACE_SIGNING_KEY or put the file into ${file}`
  if (needed === null || needed === undefined) {
    const there = found ? `; ${found.origin} has ${found.thumbprint}` : `; ${bring}`
    return { line: `- signing key of Space: the archive does not name it${there}` }
  }
  if (!found) return { line: `- signing key of Space ${needed}: it is not here; ${bring}` }
  if (found.thumbprint === needed) return { line: `✓ signing key of Space ${needed}: ${found.origin} has it` }
  return {
    line: `✗ signing key of Space ${needed}: ${found.origin} has ${found.thumbprint}`,
    refusal:
      `${found.origin}: the archive is of an installation with the signing key of Space ${needed}, but this one is ${found.thumbprint}. ` +
      'Configure the key of the archive. To change the key on purpose, restore without a signing key, and configure the new one before Space starts',
  }
}

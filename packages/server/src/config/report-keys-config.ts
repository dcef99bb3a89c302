import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isJsonObject, parseStrictJson } from '@atrium/contract/strict-json'
import { StartError } from '#errors/start-error.ts'
import type { Env } from './env.ts'
import { isLoopback } from './is-loopback.ts'

/** Where the public keys are that sign reports of leaked keys: at an address, or in a file that was read at the start. */
export type ReportKeysConfig = { url: string } | { keys: ReadonlyMap<string, KeyObject> }

const githubUrl = 'https://api.github.com/meta/public_keys/secret_scanning'

export function readReportKeysConfig({
  leaksKeysUrl,
  leaksKeysFile,
}: Pick<Env, 'leaksKeysUrl' | 'leaksKeysFile'>): ReportKeysConfig {
  if (leaksKeysFile === undefined) return { url: leaksKeysUrl === undefined ? githubUrl : address(leaksKeysUrl) }
  if (leaksKeysUrl !== undefined) throw new StartError('ATRIUM_LEAKS_KEYS_URL must not be set when ATRIUM_LEAKS_KEYS_FILE is')
  return { keys: readFile(leaksKeysFile) }
}

function address(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  const isLocal = parsed?.protocol === 'http:' && isLoopback(parsed.hostname)
  if (parsed?.protocol !== 'https:' && !isLocal)
    throw new StartError('ATRIUM_LEAKS_KEYS_URL must be an https address; plain http may be on loopback only')
  return text
}

function readFile(path: string): Map<string, KeyObject> {
  let keys: Map<string, KeyObject>
  try {
    keys = readReportKeys(readFileSync(path))
  } catch {
    throw new StartError(`ATRIUM_LEAKS_KEYS_FILE: ${path} cannot be read as JSON`)
  }
  if (keys.size === 0) throw new StartError(`ATRIUM_LEAKS_KEYS_FILE: ${path} has no key in public_keys that is on P-256`)
  return keys
}

/**
 * Reads keys in GitHub's format: `{public_keys: [{key_identifier, key}]}`, where the key is PEM. A key that is not on
 * P-256 cannot sign reports, and is left out.
 *
 * @throws {JsonError} if the bytes are not JSON
 */
export function readReportKeys(bytes: Uint8Array): Map<string, KeyObject> {
  const list: unknown = parseStrictJson(bytes, { anyNumber: true })
  const entries: unknown[] = isJsonObject(list) && Array.isArray(list['public_keys']) ? list['public_keys'] : []
  const keys = new Map<string, KeyObject>()
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue
    const { key_identifier: identifier, key: pem } = entry
    if (typeof identifier !== 'string' || typeof pem !== 'string') continue
    const key = readKey(pem)
    if (key) keys.set(identifier, key)
  }
  return keys
}

function readKey(pem: string): KeyObject | undefined {
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    // One entry that cannot be read does not make the others useless.
    return undefined
  }
}

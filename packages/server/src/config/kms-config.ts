import { StartError } from '#errors/start-error.ts'
import type { Env } from './env.ts'
import { isLoopback } from './is-loopback.ts'

/** Master keys that are encrypted by a key management service, and the address of that service. */
export interface WrappedMasterKeys {
  /** In the order of the master keys: the first one seals. */
  ciphertexts: readonly [Buffer, ...Buffer[]]
  region: string
  /** Origin of the service. */
  endpoint: string
}

/** undefined: the master key is not wrapped. */
export function readWrappedMasterKeys(env: Env): WrappedMasterKeys | undefined {
  const { masterKeyKms, masterKeyKmsRegion: region, masterKeyKmsEndpoint } = env
  if (!masterKeyKms) {
    for (const [name, value] of [
      ['ATRIUM_MASTER_KEY_KMS_REGION', region],
      ['ATRIUM_MASTER_KEY_KMS_ENDPOINT', masterKeyKmsEndpoint],
    ] as const)
      if (value) throw new StartError(`ATRIUM_MASTER_KEY_KMS must be set when ${name} is`)
    return undefined
  }
  if (env.masterKey)
    throw new StartError(
      'ATRIUM_MASTER_KEY and ATRIUM_MASTER_KEY_KMS are both set; keep the one that has the key of this database',
    )
  if (!region || !/^[a-z0-9-]{1,64}$/.test(region))
    throw new StartError('ATRIUM_MASTER_KEY_KMS_REGION must be the region of the key, such as eu-central-1')
  const [first = '', ...others] = masterKeyKms.split(/[\s,]+/)
  return {
    ciphertexts: [decode(first), ...others.map(decode)],
    region,
    endpoint: endpoint(masterKeyKmsEndpoint ?? `https://kms.${region}.amazonaws.com`),
  }
}

/** KMS accepts at most 6,144 bytes. */
function decode(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length > 6_144 || bytes.toString('base64') !== text)
    throw new StartError(
      'ATRIUM_MASTER_KEY_KMS must be the base64 of a ciphertext of KMS, or several of these with commas between them',
    )
  return bytes
}

function endpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isLocal = url?.protocol === 'http:' && isLoopback(url.hostname)
  // The answer contains the master key.
  if (!url || !(url.protocol === 'https:' || isLocal) || url.username || url.pathname !== '/' || url.search)
    throw new StartError('ATRIUM_MASTER_KEY_KMS_ENDPOINT must be an https:// origin; plain http is allowed on loopback only')
  return url.origin
}

import { setTimeout as delay } from 'node:timers/promises'
import { Backoff } from '@atrium/traffic/backoff'
import type { WrappedMasterKeys } from '#config/kms-config.ts'
import type { GivenSecrets, MasterKeys } from '#config/secrets.ts'
import { messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import { UnwrapError, type KeyWrapping } from './key-wrapping.ts'

const waits = { firstMs: 250, maxMs: 8_000, healthyMs: Number.MAX_SAFE_INTEGER }

export interface UnwrapOptions {
  /** How long a service that is unavailable is tried again. */
  withinMs?: number
  say?: (line: string) => void
}

/**
 * The secrets with the master keys, which are decrypted once and kept in memory. `wrapped` undefined: they are given
 * as they are, or are in the data folder.
 *
 * @throws {StartError} at once if the service refuses, and after `withinMs` if it is unavailable.
 */
export async function unwrapMasterKeys(
  given: GivenSecrets,
  wrapped: WrappedMasterKeys | undefined,
  options: UnwrapOptions = {},
): Promise<GivenSecrets> {
  if (!wrapped) return given
  // Loaded when used, because it loads the SDK.
  const { AwsKms } = await import('./aws-kms.ts')
  return { ...given, masterKeys: await unwrapAll(new AwsKms(wrapped), wrapped.ciphertexts, options) }
}

async function unwrapAll(
  service: KeyWrapping,
  [first, ...others]: WrappedMasterKeys['ciphertexts'],
  { withinMs = 60_000, say = console.error }: UnwrapOptions,
): Promise<MasterKeys> {
  const giveUpAt = performance.now() + withinMs
  const unwrap = async (ciphertext: Buffer, number: number): Promise<Buffer> => {
    const backoff = new Backoff(waits)
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await service.unwrap(ciphertext)
      } catch (error) {
        const which = others.length === 0 ? '' : ` for key ${number}`
        const said = `ATRIUM_MASTER_KEY_KMS: ${messageOf(error)}${which}`
        const waitMs = backoff.failed()
        const isTemporary = error instanceof UnwrapError && error.isTemporary
        if (!isTemporary || performance.now() + waitMs > giveUpAt) throw new StartError(`${said} (docs/master-key.md)`)
        if (isFirst) say(`atrium: ${said}; trying again for ${Math.round(withinMs / 1_000)} s`)
        await delay(waitMs)
      }
    }
  }
  const keys: [Buffer, ...Buffer[]] = [await unwrap(first, 1)]
  for (const [at, ciphertext] of others.entries()) keys.push(await unwrap(ciphertext, at + 2))
  return keys
}

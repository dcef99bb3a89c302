import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { readWrappedMasterKeys } from '#config/kms-config.ts'
import { readGivenSecrets, readMasterKeyFile } from '#config/secrets.ts'
import { checkMasterKey } from '#crypto/vault/check-master-key.ts'
import { Vault } from '#crypto/vault/vault.ts'
import { StartError } from '#errors/start-error.ts'
import { keySetMaxAgeSeconds } from '#features/agent-issuer/agent-issuer.ts'
import { cacheMs, isKeptPurpose, makePlatformKey } from '#features/platform-keys/platform-keys.ts'
import { activateKey, announceKey } from '#features/platform-keys/rotate-key.ts'
import { logPurpose, makeLogKey } from '#features/transparency-log/log-keys.ts'
import { unwrapMasterKeys } from '#ports/master-key/unwrap-master-keys.ts'
import { withDatabase } from './migrate-database.ts'
import { prepareDatabase } from './prepare-database.ts'

/** What the keys sign, as `use` in the transparency log names it. */
const rotatable = ['receipts', 'quotes', 'agent_tokens', logPurpose] as const
type Rotatable = (typeof rotatable)[number]

/** By then, every process publishes the next key, and no cache has a key set without it. */
export const announcedForMs = cacheMs + keySetMaxAgeSeconds * 1_000 + 5_000

/** `atrium keys rotate USE`. Without `atOnce`, the next key is published for two minutes before it signs. */
export async function rotateKey(use: string, { atOnce }: { atOnce: boolean }): Promise<void> {
  const purpose = rotatable.find((one) => one === use)
  if (purpose === undefined) throw new StartError(`the use of a key is one of ${rotatable.join(', ')}`)
  const say = (line: string) => console.log(line)
  const vault = new Vault(await readMasterKeys())
  await withDatabase(say, (url) =>
    prepareDatabase(url, async (db) => {
      await checkMasterKey(db, vault)
      const id = await announceKey(db, purpose, () =>
        purpose === logPurpose ? makeLogKey(vault) : makePlatformKey(vault, purpose),
      )
      say(`The key ${id} is published and does not sign yet.`)
      if (!atOnce) await sleep(announcedForMs)
      await activateKey(db, purpose, id)
      say(`It signs ${describe(purpose)} now, in every process within a minute. ${retired(purpose)}`)
    }),
  )
}

async function readMasterKeys() {
  const env = readEnv()
  const given = await unwrapMasterKeys(readGivenSecrets(env), readWrappedMasterKeys(env))
  const keys = given.masterKeys ?? (await readMasterKeyFile(readConfig(env).dataDir))
  if (keys === undefined) throw new StartError('ATRIUM_MASTER_KEY must be set: it seals the new key')
  return keys
}

const describe = (purpose: Rotatable) => (purpose === logPurpose ? 'the transparency log' : purpose.replace('_', ' '))

function retired(purpose: Rotatable): string {
  if (purpose === logPurpose)
    return 'The key before signs for one more day. Send the new line of /log/vkey to witnesses and monitors.'
  return `The key before stays in /.well-known/jwks.json ${isKeptPurpose(purpose) ? 'for ever' : 'for a day'}.`
}

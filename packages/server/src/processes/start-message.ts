import { createPublicKey } from 'node:crypto'
import { formatPolicy, parsePolicy } from '@atrium/log/policy'
import type { Config } from '#config/config.ts'
import type { MasterKeys, Secrets } from '#config/secrets.ts'

/** What arrives as it was sent over a channel of JSON: no part of it is a function or an object with methods. */
type Jsonable<T> = T extends (...args: never[]) => unknown ? never : T extends object ? { [K in keyof T]: Jsonable<T[K]> } : T

/**
 * The message that starts a child process, over its channel. The channel carries JSON, so what has another form is here
 * as text.
 */
export type StartMessage = ReturnType<typeof packStart>

export function packStart(
  { logPolicy, reportKeys, ...config }: Config,
  { masterKeys, ...secrets }: Secrets,
  databaseUrl: string,
) {
  return jsonable({
    config,
    logPolicy: formatPolicy(logPolicy),
    reportKeys:
      'url' in reportKeys
        ? reportKeys
        : {
            pems: [...reportKeys.keys].map(([name, key]) => [name, String(key.export({ type: 'spki', format: 'pem' }))] as const),
          },
    secrets,
    masterKeys: masterKeys.map((key) => key.toString('base64')),
    databaseUrl,
  })
}

export function unpackStart(message: StartMessage): { config: Config; secrets: Secrets; databaseUrl: string } {
  const { logPolicy, reportKeys, databaseUrl } = message
  const config: Config = {
    ...message.config,
    logPolicy: parsePolicy(logPolicy),
    reportKeys:
      'url' in reportKeys ? reportKeys : { keys: new Map(reportKeys.pems.map(([name, pem]) => [name, createPublicKey(pem)])) },
  }
  const [first, ...others] = message.masterKeys.map((key) => Buffer.from(key, 'base64'))
  if (first === undefined) throw new Error('the message has no master key')
  const masterKeys: MasterKeys = [first, ...others]
  return { config, secrets: { ...message.secrets, masterKeys }, databaseUrl }
}

/** Fails to compile for a value that the channel would change. */
const jsonable = <T>(value: T & Jsonable<T>): T => value

import { readFileSync } from 'node:fs'
import { codeOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'

/** Variables that contain a secret. Each can also be a file, whose path is in the variable of this name with `_FILE`. */
export const secretVariables: readonly string[] = [
  'ATRIUM_ADMIN_TOKEN',
  'ATRIUM_COLLECTION_TOKEN',
  'ATRIUM_CONSOLE_OIDC_CLIENT_SECRET',
  'ATRIUM_COUPON',
  'ATRIUM_KEY',
  'ATRIUM_MASTER_KEY',
  'ATRIUM_MASTER_KEY_KMS',
  'ATRIUM_METRICS_TOKEN',
  // The Space service reads this one itself.
  'ATRIUM_SPACE_SIGNING_KEY',
  // The addresses may contain a password.
  'DATABASE_DIRECT_URL',
  'DATABASE_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'REDIS_URL',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
  'SPACE_DATABASE_DIRECT_URL',
  'SPACE_DATABASE_URL',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'TURN_SECRET',
]

const maxLength = 65_536

/**
 * The trimmed text of the file that `<name>_FILE` names; undefined if that variable is not set.
 *
 * @throws {StartError} if the file cannot be read, is empty or is larger than 64 KiB. The message never quotes it.
 */
export function readSecretFile(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const path = env[`${name}_FILE`]?.trim()
  if (!path) return undefined
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new StartError(`${name}_FILE: ${path} cannot be read (${codeOf(error) ?? 'unknown error'})`)
  }
  if (text.length > maxLength) throw new StartError(`${name}_FILE: ${path} is too large to be a secret`)
  // An orchestrator that mounted nothing must not look like a secret that was never configured.
  return text.trim() || fail(`${name}_FILE: ${path} is empty`)
}

function fail(message: string): never {
  throw new StartError(message)
}

import { ensureBuilt } from '@atrium/space/build/ensure-built'
import { readSpaceConfig } from '@atrium/space/space-config'
import type { Config } from '#config/config.ts'
import { messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import { findSpaceKey } from './archive-keys.ts'
import { isDevelopmentIssuer } from './development-identity/development-issuer.ts'
import { superviseProcess, type SupervisedProcess } from './supervise-process.ts'

/** The variables of the Space service. It receives no other variable, and so none of the platform's secrets. */
const passedOn = [
  'PATH',
  'HOST',
  'ATRIUM_RATE_LIMIT',
  'ATRIUM_SPACE_SIGNING_KEY',
  'ATRIUM_SPACE_SIGNING_KEY_FILE',
  'ATRIUM_SPACE_MAX_BYTES',
  'ATRIUM_SPACE_BYTES_PER_DAY',
  'ATRIUM_SPACE_PROCESSES',
  'ATRIUM_SPACE_ROOMS_PER_HOUR',
  'ATRIUM_SPACE_UNUSED_DAYS',
  'ATRIUM_SPACE_COUPON_URL',
  'OIDC_JWKS_ORIGIN',
  'NODE_ENV',
  // The file with the operator's own certificate authority: of the database, or of what the service calls.
  'NODE_EXTRA_CA_CERTS',
  // For networks in which a proxy is the only route to the hosts of the certificate's egress.
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'NODE_USE_ENV_PROXY',
]

/**
 * eval and new Function throw, so no text that reaches the process becomes code: only the certified file runs. It
 * collects garbage once, after its start.
 */
const execArgv = ['--disallow-code-generation-from-strings', '--expose-gc']

/** Runs the certified bundle in a separate process. `bundlePath` replaces the bundle in tests. */
export async function startSpaceProcess(config: Config, databaseUrl: string, bundlePath?: string): Promise<SupervisedProcess> {
  const path = bundlePath ?? (await ensureBuilt()).bundlePath
  const env = spaceEnvironment(config, databaseUrl)
  return namingSpaceAddresses(config, () => superviseProcess({ name: 'the Space service', path, env, execArgv }))
}

/**
 * Runs a step of the start of Space. The Space service receives its own addresses as DATABASE_URL and
 * DATABASE_DIRECT_URL, which its errors name. Here the errors get the names that the operator has set.
 */
export async function namingSpaceAddresses<Result>({ database }: Config, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (database.space.url === undefined || !(error instanceof StartError)) throw error
    throw new StartError(error.message.replace(/\bDATABASE_(DIRECT_)?URL\b/g, 'SPACE_$&'), { cause: error })
  }
}

/** Throws StartError for a wrong setting or signing key of the Space service, which reads them only when it starts. */
export async function assertSpaceSettings(config: Config): Promise<void> {
  try {
    readSpaceConfig(spaceEnvironment(config, config.databaseUrl ?? 'postgres://embedded'))
  } catch (error) {
    throw new StartError(messageOf(error))
  }
  await findSpaceKey(config.dataDir)
}

function spaceEnvironment(config: Config, databaseUrl: string): NodeJS.ProcessEnv {
  const passed = Object.fromEntries(
    passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  const { oidc, database } = config
  const { space } = database
  const directUrl = space.url === undefined ? database.directUrl : space.directUrl
  return {
    ...passed,
    // Rooms are processed as text. With the 32 MiB of newer Node the heap grew by 100 MiB more under 40 readers, and
    // was not faster.
    NODE_OPTIONS: '--max-semi-space-size=16',
    // At its start the service reads files of nearly 2 MiB. glibc would then raise its thresholds: it would take memory of
    // that size from its heap, and would return the free end of the heap only above 4 MiB.
    MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
    MALLOC_TRIM_THRESHOLD_: String(2 * 1024 * 1024),
    DATABASE_URL: space.url ?? databaseUrl,
    ...(directUrl === undefined ? {} : { DATABASE_DIRECT_URL: directUrl }),
    DATABASE_POOL_SIZE: String(space.poolSize),
    // The API on this machine forwards requests and passes the caller's IP address on. Loopback must be a trusted
    // proxy, because otherwise all callers would share one limit.
    ATRIUM_TRUST_PROXY: ['loopback', ...config.trustProxy].join(','),
    SPACE_PORT: String(config.spacePort),
    ATRIUM_SPACES_URL: config.spacesUrl,
    ATRIUM_PUBLIC_URL: config.publicUrl,
    ATRIUM_DATA_DIR: config.dataDir,
    ...(config.spacePublishableKey ? { ATRIUM_SPACE_PUBLISHABLE_KEY: config.spacePublishableKey } : {}),
    ...(oidc ? { OIDC_ISSUER: oidc.issuer, OIDC_CLIENT_ID: oidc.clientId } : {}),
    ...(isDevelopmentIssuer(config, oidc) ? { ATRIUM_DEV_IDENTITY: 'on' } : {}),
  }
}

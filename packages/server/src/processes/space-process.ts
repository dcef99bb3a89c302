import { ensureBuilt } from '@atrium/space/build/ensure-built'
import type { Config } from '#config/config.ts'
import { usesDevelopmentIdentity } from './development-identity/development-issuer.ts'
import { superviseProcess, type SupervisedProcess } from './supervise-process.ts'

/**
 * Variables that the Space service reads for itself; it is given no other, so none of the platform's secrets reach it.
 */
const passedOn = [
  'PATH',
  'HOST',
  'ATRIUM_RATE_LIMIT',
  'ATRIUM_SPACE_SIGNING_KEY',
  'ATRIUM_SPACE_MAX_BYTES',
  'ATRIUM_SPACE_BYTES_PER_DAY',
  'ATRIUM_SPACE_ROOMS_PER_HOUR',
  'ATRIUM_SPACE_UNUSED_DAYS',
  'ATRIUM_SPACE_COUPON_URL',
  'OIDC_JWKS_ORIGIN',
  'NODE_ENV',
]

/**
 * eval and new Function throw: no text that reaches the process becomes code, and the certified file stays all that
 * runs.
 */
const execArgv = ['--disallow-code-generation-from-strings']

/** Runs the certified bundle as a process of its own. `bundlePath`: another program in its place, for tests. */
export async function startSpaceProcess(config: Config, databaseUrl: string, bundlePath?: string): Promise<SupervisedProcess> {
  const path = bundlePath ?? (await ensureBuilt()).bundlePath
  return superviseProcess({ name: 'the Space service', path, env: spaceEnvironment(config, databaseUrl), execArgv })
}

function spaceEnvironment(config: Config, databaseUrl: string): NodeJS.ProcessEnv {
  const passed = Object.fromEntries(
    passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  const { oidc } = config
  return {
    ...passed,
    // Rooms pass through it as text. With the 32 MiB of newer Node its heap grew by 100 MiB more under 40 readers, and
    // was no faster.
    NODE_OPTIONS: '--max-semi-space-size=16',
    DATABASE_URL: databaseUrl,
    // The API forwards to it from this machine and names the caller: without loopback all of them would share one
    // limit.
    ATRIUM_TRUST_PROXY: ['loopback', ...config.trustProxy].join(','),
    SPACE_PORT: String(config.spacePort),
    ATRIUM_SPACES_URL: config.spacesUrl,
    ATRIUM_PUBLIC_URL: config.publicUrl,
    ATRIUM_DATA_DIR: config.dataDir,
    ...(config.spacePublishableKey ? { ATRIUM_SPACE_PUBLISHABLE_KEY: config.spacePublishableKey } : {}),
    ...(oidc ? { OIDC_ISSUER: oidc.issuer, OIDC_CLIENT_ID: oidc.clientId } : {}),
    ...(usesDevelopmentIdentity(config) ? { ATRIUM_DEV_IDENTITY: 'on' } : {}),
  }
}

import { readFileSync } from 'node:fs'
import { isCredential } from '@atrium/contract/tokens'

/**
 * The settings of the Space service. The process that starts it checks them; here a wrong one throws a plain Error.
 */
export interface SpaceConfig {
  host: string
  port: number
  databaseUrl: string
  /** Leads to sessions of PostgreSQL itself, where `databaseUrl` leads through a pooler in transaction mode. */
  databaseDirectUrl: string | undefined
  /** The most connections for statements. */
  databasePoolSize: number
  /** The service's own origin, without a trailing slash. */
  spacesUrl: string
  /** Origin of the API. */
  apiUrl: string
  /** The public address of the endpoint: through the API, as the API's index names it. */
  spaceUrl: string
  dataDir: string
  /** Factor on the limits; 0: off. */
  rateLimitFactor: number
  /** How many Space processes share the callers. Each counts requests by itself, so it has this part of the limit. */
  processes: number
  trustProxy: string[]
  /** The limit of all rooms together. */
  maxBytes: number
  /**
   * How much one address may write per day (UTC), and how many rooms it may create per hour, before the factor on
   * the limits.
   */
  bytesPerDay: number
  roomsPerHour: number
  /** After how many days a room without any message is removed; 0: never. */
  unusedDays: number
  signingKey: string | undefined
  /**
   * The key with which the app calls the API. Everyone who opens the app receives it. undefined: the app cannot
   * invite agents.
   */
  publishableKey: string | undefined
  /** Where people buy coupons. The app links to it where it asks for a coupon. */
  couponUrl: string | undefined
  oidc: { issuer: string; clientId: string; keysOrigin: string | undefined; label: string; development: boolean } | undefined
}

export function readSpaceConfig(env: NodeJS.ProcessEnv): SpaceConfig {
  const get = (name: string) => env[name]?.trim() || undefined
  const need = (name: string, value = get(name)) => {
    if (value === undefined) throw new Error(`${name} must be set`)
    return value
  }
  const secret = (name: string) => get(name) ?? readSecretFile(name, get(`${name}_FILE`))
  const port = Number(get('SPACE_PORT') ?? '8788')
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('SPACE_PORT must be a whole number from 0 to 65535')
  const issuer = get('OIDC_ISSUER')
  const keysOrigin = get('OIDC_JWKS_ORIGIN')
  const publicUrl = get('ATRIUM_PUBLIC_URL') ?? 'http://localhost:8787'
  return {
    host: get('HOST') ?? '127.0.0.1',
    port,
    databaseUrl: need('DATABASE_URL', secret('DATABASE_URL')),
    databaseDirectUrl: secret('DATABASE_DIRECT_URL'),
    databasePoolSize: whole('DATABASE_POOL_SIZE', get('DATABASE_POOL_SIZE') ?? '20', 1),
    spacesUrl: origin('ATRIUM_SPACES_URL', get('ATRIUM_SPACES_URL') ?? `http://localhost:${port}`),
    apiUrl: origin('ATRIUM_PUBLIC_URL', publicUrl),
    spaceUrl: `${publicUrl.replace(/(?<!\/)\/+$/, '')}/v1/space`,
    dataDir: get('ATRIUM_DATA_DIR') ?? './data',
    rateLimitFactor: rateLimitFactor(get('ATRIUM_RATE_LIMIT') ?? '1'),
    processes: whole('ATRIUM_SPACE_PROCESSES', get('ATRIUM_SPACE_PROCESSES') ?? '1', 1),
    trustProxy: (get('ATRIUM_TRUST_PROXY') ?? 'loopback').split(',').map((address) => address.trim()),
    maxBytes: whole('ATRIUM_SPACE_MAX_BYTES', get('ATRIUM_SPACE_MAX_BYTES') ?? String(100 * 1024 ** 3), 1),
    bytesPerDay: whole('ATRIUM_SPACE_BYTES_PER_DAY', get('ATRIUM_SPACE_BYTES_PER_DAY') ?? String(256 * 1024 ** 2), 1),
    roomsPerHour: whole('ATRIUM_SPACE_ROOMS_PER_HOUR', get('ATRIUM_SPACE_ROOMS_PER_HOUR') ?? '60', 1),
    unusedDays: whole('ATRIUM_SPACE_UNUSED_DAYS', get('ATRIUM_SPACE_UNUSED_DAYS') ?? '7', 0),
    signingKey: secret('ATRIUM_SPACE_SIGNING_KEY'),
    publishableKey: publishable('ATRIUM_SPACE_PUBLISHABLE_KEY', get('ATRIUM_SPACE_PUBLISHABLE_KEY')),
    couponUrl: secureAddress('ATRIUM_SPACE_COUPON_URL', get('ATRIUM_SPACE_COUPON_URL')),
    oidc:
      issuer === undefined
        ? undefined
        : {
            issuer,
            clientId: need('OIDC_CLIENT_ID'),
            keysOrigin: keysOrigin && origin('OIDC_JWKS_ORIGIN', keysOrigin),
            ...labelOf(issuer, get('ATRIUM_DEV_IDENTITY') === 'on'),
          },
  }
}

/** A secret may also be in a file: `<name>_FILE` is its path. Errors never quote the file. */
function readSecretFile(name: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new Error(`${name}_FILE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error })
  }
  if (text === '') throw new Error(`${name}_FILE: ${path} is empty`)
  return text
}

function whole(name: string, text: string, least: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least)) throw new Error(`${name} must be a whole number from ${least}`)
  return value
}

function rateLimitFactor(text: string): number {
  const factor = text === 'off' ? 0 : Number(text)
  // With NaN, no comparison with a limit would refuse anything.
  if (!Number.isFinite(factor) || (factor <= 0 && text !== 'off'))
    throw new Error(`ATRIUM_RATE_LIMIT must be "off" or a factor above 0 such as 10, not "${text}"`)
  return factor
}

function labelOf(issuer: string, development: boolean) {
  return { label: development ? 'development sign-in' : new URL(issuer).host, development }
}

/** This value is sent to everyone, so it must not be a secret key. */
function publishable(name: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isCredential('publishableKey', text)) throw new Error(`${name} is not a publishable key (wpk_…)`)
  return text
}

/** People pay at this address: only https is accepted, without a user name. */
function secureAddress(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') throw new Error(`${name} is not an https address`)
  return url.href
}

function origin(name: string, text: string): string {
  if (!URL.canParse(text)) throw new Error(`${name} is not an address`)
  return new URL(text).origin
}

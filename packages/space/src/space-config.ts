import { isCredential } from '@atrium/contract/tokens'

/** Settings of the Space service. They are checked by whoever starts it; here a wrong one is a plain Error. */
export interface SpaceConfig {
  host: string
  port: number
  databaseUrl: string
  /** Own origin, without a slash at the end. */
  spacesUrl: string
  /** Origin of the API. */
  apiUrl: string
  /** Where everyone reaches the endpoint: through the API, at the address that its index names. */
  spaceUrl: string
  dataDir: string
  /** Factor on the limit; 0: off. */
  rateLimitFactor: number
  trustProxy: string[]
  /** Of all rooms together. */
  maxBytes: number
  /** What one address may write in a day (UTC), and how many rooms it may make in an hour; the factor on the limits counts. */
  bytesPerDay: number
  roomsPerHour: number
  /** After how many days a room goes in which nothing was ever said; 0: never. */
  unusedDays: number
  signingKey: string | undefined
  /** What the app calls the API with: for everyone who opens it. undefined: it cannot invite agents. */
  publishableKey: string | undefined
  /** Where people buy coupons. The app links to it where it asks for one. */
  couponUrl: string | undefined
  oidc: { issuer: string; clientId: string; keysOrigin: string | undefined; label: string; development: boolean } | undefined
}

export function readSpaceConfig(env: NodeJS.ProcessEnv): SpaceConfig {
  const get = (name: string) => env[name]?.trim() || undefined
  const need = (name: string) => {
    const value = get(name)
    if (value === undefined) throw new Error(`${name} must be set`)
    return value
  }
  const port = Number(get('SPACE_PORT') ?? '8788')
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('SPACE_PORT must be a whole number from 0 to 65535')
  const issuer = get('OIDC_ISSUER')
  const publicUrl = get('ATRIUM_PUBLIC_URL') ?? 'http://localhost:8787'
  return {
    host: get('HOST') ?? '127.0.0.1',
    port,
    databaseUrl: need('DATABASE_URL'),
    spacesUrl: origin('ATRIUM_SPACES_URL', get('ATRIUM_SPACES_URL') ?? `http://localhost:${port}`),
    apiUrl: origin('ATRIUM_PUBLIC_URL', publicUrl),
    spaceUrl: `${publicUrl.replace(/(?<!\/)\/+$/, '')}/v1/space`,
    dataDir: get('ATRIUM_DATA_DIR') ?? './data',
    rateLimitFactor: get('ATRIUM_RATE_LIMIT') === 'off' ? 0 : Number(get('ATRIUM_RATE_LIMIT') ?? '1'),
    trustProxy: (get('ATRIUM_TRUST_PROXY') ?? 'loopback').split(',').map((address) => address.trim()),
    maxBytes: whole('ATRIUM_SPACE_MAX_BYTES', get('ATRIUM_SPACE_MAX_BYTES') ?? String(100 * 1024 ** 3), 1),
    bytesPerDay: whole('ATRIUM_SPACE_BYTES_PER_DAY', get('ATRIUM_SPACE_BYTES_PER_DAY') ?? String(256 * 1024 ** 2), 1),
    roomsPerHour: whole('ATRIUM_SPACE_ROOMS_PER_HOUR', get('ATRIUM_SPACE_ROOMS_PER_HOUR') ?? '60', 1),
    unusedDays: whole('ATRIUM_SPACE_UNUSED_DAYS', get('ATRIUM_SPACE_UNUSED_DAYS') ?? '7', 0),
    signingKey: get('ATRIUM_SPACE_SIGNING_KEY'),
    publishableKey: publishable('ATRIUM_SPACE_PUBLISHABLE_KEY', get('ATRIUM_SPACE_PUBLISHABLE_KEY')),
    couponUrl: secureAddress('ATRIUM_SPACE_COUPON_URL', get('ATRIUM_SPACE_COUPON_URL')),
    oidc:
      issuer === undefined
        ? undefined
        : {
            issuer,
            clientId: need('OIDC_CLIENT_ID'),
            keysOrigin: get('OIDC_JWKS_ORIGIN'),
            ...labelOf(issuer, get('ATRIUM_DEV_IDENTITY') === 'on'),
          },
  }
}

function whole(name: string, text: string, least: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least)) throw new Error(`${name} must be a whole number from ${least}`)
  return value
}

function labelOf(issuer: string, development: boolean) {
  return { label: development ? 'development sign-in' : new URL(issuer).host, development }
}

/** Whatever is given here is given out: a secret key must not get through. */
function publishable(name: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isCredential('publishableKey', text)) throw new Error(`${name} is not a publishable key (wpk_…)`)
  return text
}

/** Money is paid there: only over https, and to no address that names a user. */
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

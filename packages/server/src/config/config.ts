import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { isCredential } from '@atrium/contract/tokens'
import { StartError } from '#errors/start-error.ts'
import { readBlobConfig, type BlobConfig } from './blob-config.ts'
import type { Env } from './env.ts'
import type { TenantLimits } from './tenant-limits.ts'
import { integer } from './integer.ts'
import { paintAllowance, readLimits, readStreamLimits } from './limits-config.ts'
import { readTurnUrls } from './turn-config.ts'

export interface Config {
  /** Production refuses what only helps a developer: the development tenant and its printed keys. */
  production: boolean
  host: string
  port: number
  /** Public origin of the API, without a trailing slash. */
  publicUrl: string
  /** Where the Space service listens when it is started here. */
  spacePort: number
  /** Public origin of the Space service. */
  spacesUrl: string
  /** Origin of the Space service for this machine. */
  spaceOrigin: string
  /** The Space app needs it to list and invite agents. It is sent to everyone who opens the app. */
  spacePublishableKey: string | undefined
  dataDir: string
  databaseUrl: string | undefined
  redisUrl: string | undefined
  /** Factor on every rate limit; 0: off. */
  rateLimitFactor: number
  /** Addresses of the proxies whose X-Forwarded-For is trusted. */
  trustProxy: string[]
  logLevel: 'silent' | 'error' | 'info' | 'debug'
  /** Whether each answer of an operation is a line of the log, at the level info. */
  accessLog: boolean
  /** Whether connections to /mcp may ask for tools that change data. */
  mcpWrites: boolean
  /** Price of a painting that is paid with a coupon, in whole credits. */
  paintPrice: number
  /** Paintings per tenant and month without a coupon. */
  paintAllowance: number
  /** The default limits of a tenant, which an operator can override. */
  limits: TenantLimits
  /** Event streams that one process has open at once, in all and for one address. */
  streams: { perProcess: number; perAddress: number }
  oidc: { issuer: string; clientId: string } | undefined
  /** loopback: URLs of tenants (webhooks, agents, tools) may also be on this machine, over plain http. */
  egress: 'public' | 'loopback'
  /** Price of one credit, in the currency's smallest unit. */
  creditPriceCents: number
  /** ISO 4217, lower case. */
  currency: string
  /** Replaces the URL of Stripe's API in tests: plain http on loopback. */
  stripeApiUrl: string | undefined
  /** Price of registering an agent, in whole credits. */
  agentFeeCredits: number
  /** How many days ended sessions, finished checkouts and events are kept. */
  retentionDays: { sessions: number; checkouts: number; events: number }
  blobs: BlobConfig
  /** The URLs of the relay; undefined without one. */
  turnUrls: string[] | undefined
}

/** Checks every setting; a wrong one stops the start with one line that names the variable. */
export function readConfig(env: Env): Config {
  const port = integer('PORT', env.port ?? '8787', 0, 65_535)
  const spacePort = integer('SPACE_PORT', env.spacePort ?? '8788', 0, 65_535)
  const spacesUrl = url('ATRIUM_SPACES_URL', env.spacesUrl ?? `http://localhost:${spacePort}`, ['http:', 'https:'])
  return {
    production: env.nodeEnv === 'production',
    host: env.host ?? '127.0.0.1',
    port,
    publicUrl: url('ATRIUM_PUBLIC_URL', env.publicUrl ?? `http://localhost:${port}`, ['http:', 'https:']).replace(
      /(?<!\/)\/+$/,
      '',
    ),
    spacePort,
    spacesUrl: new URL(spacesUrl).origin,
    spaceOrigin: new URL(spacesUrl).origin,
    spacePublishableKey: env.spacePublishableKey && publishableKey('ATRIUM_SPACE_PUBLISHABLE_KEY', env.spacePublishableKey),
    dataDir: resolve(env.dataDir ?? './data'),
    databaseUrl: env.databaseUrl && databaseUrl(env.databaseUrl),
    redisUrl: env.redisUrl && url('REDIS_URL', env.redisUrl, ['redis:', 'rediss:']),
    rateLimitFactor: rateLimitFactor(env.rateLimit ?? '1'),
    trustProxy: env.trustProxy?.split(',').map((address) => proxyAddress(address.trim())) ?? [],
    logLevel: logLevel(env.log ?? 'info'),
    accessLog: onOrOff('ATRIUM_ACCESS_LOG', env.accessLog ?? 'on'),
    mcpWrites: onOrOff('ATRIUM_MCP_WRITES', env.mcpWrites ?? 'off'),
    paintPrice: integer('ATRIUM_PAINT_PRICE', env.paintPrice ?? '1', 0, 1_000_000_000),
    paintAllowance: paintAllowance(env),
    limits: readLimits(env),
    streams: readStreamLimits(env),
    oidc: oidc(env),
    egress: egress(env),
    creditPriceCents: integer('ATRIUM_CREDIT_PRICE_CENTS', env.creditPriceCents ?? '1', 1, 1_000_000),
    currency: currency(env.currency ?? 'usd'),
    stripeApiUrl: env.stripeApiUrl && stripeApiUrl(env.stripeApiUrl),
    agentFeeCredits: integer('ATRIUM_AGENT_FEE', env.agentFee ?? '0', 0, Number.MAX_SAFE_INTEGER),
    retentionDays: retentionDays(env),
    blobs: readBlobConfig(env),
    turnUrls: readTurnUrls(env),
  }
}

function retentionDays(env: Env): Config['retentionDays'] {
  const days = (name: string, text: string, least: number) => integer(name, text, least, 36_500)
  return {
    sessions: days('ATRIUM_SESSION_RETENTION_DAYS', env.sessionRetentionDays ?? '90', 1),
    // A payment provider may report a payment days later.
    checkouts: days('ATRIUM_CHECKOUT_RETENTION_DAYS', env.checkoutRetentionDays ?? '365', 7),
    // Not shorter than the time in which a delivery is attempted.
    events: days('ATRIUM_EVENT_RETENTION_DAYS', env.eventRetentionDays ?? '30', 5),
  }
}

function url(name: string, text: string, protocols: string[]): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (!parsed || !protocols.includes(parsed.protocol)) {
    throw new StartError(
      // A wrong value is not quoted, because it may contain a password.
      `${name} must be an address that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    )
  }
  return text
}

/** A wrong value is not quoted, because it may be a secret key. */
function publishableKey(name: string, text: string): string {
  if (!isCredential('publishableKey', text)) throw new StartError(`${name} must be a complete publishable key (wpk_…)`)
  return text
}

/**
 * Accepts a URL, and the forms that the driver also accepts: without a host, or with the folder of a socket instead.
 */
function canParse(text: string): boolean {
  return URL.canParse(text) || URL.canParse(text.replace('@/', '@localhost/'))
}

/** A wrong value is not quoted, because it may contain a password. */
function databaseUrl(text: string): string {
  if (!/^postgres(ql)?:\/\//.test(text) || !canParse(text))
    throw new StartError('DATABASE_URL must be an address that starts with postgres:// or postgresql://')
  return text
}

/** An address, a range such as 10.0.0.0/8, or one of the names that Fastify knows. */
function proxyAddress(text: string): string {
  const [address = '', bits, ...rest] = text.split('/')
  const known = ['loopback', 'linklocal', 'uniquelocal'].includes(text)
  const version = isIP(address)
  const bitsValid = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  if (!known && (version === 0 || !bitsValid || rest.length > 0)) {
    throw new StartError(`ATRIUM_TRUST_PROXY must list addresses, ranges or "loopback", separated by commas, not "${text}"`)
  }
  return text
}

function rateLimitFactor(text: string): number {
  if (text === 'off') return 0
  const factor = Number(text)
  if (!Number.isFinite(factor) || factor <= 0)
    throw new StartError(`ATRIUM_RATE_LIMIT must be "off" or a factor above 0 such as 10, not "${text}"`)
  return factor
}

function logLevel(text: string): Config['logLevel'] {
  if (text === 'silent' || text === 'error' || text === 'info' || text === 'debug') return text
  throw new StartError(`ATRIUM_LOG must be silent, error, info or debug, not "${text}"`)
}

function onOrOff(name: string, text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on'
  throw new StartError(`${name} must be on or off, not "${text}"`)
}

function oidc(env: Env): Config['oidc'] {
  if (!env.oidcIssuer && !env.oidcClientId) return undefined
  if (!env.oidcIssuer) throw new StartError('OIDC_ISSUER must be set when OIDC_CLIENT_ID is')
  if (!env.oidcClientId) throw new StartError('OIDC_CLIENT_ID must be set when OIDC_ISSUER is')
  const issuer = new URL(url('OIDC_ISSUER', env.oidcIssuer, ['https:', 'http:']))
  if (issuer.protocol === 'http:' && !isLoopback(issuer.hostname)) {
    throw new StartError('OIDC_ISSUER may be plain http on loopback only')
  }
  return { issuer: env.oidcIssuer, clientId: env.oidcClientId }
}

function currency(text: string): string {
  if (!/^[a-z]{3}$/i.test(text) || !Intl.supportedValuesOf('currency').includes(text.toUpperCase()))
    throw new StartError(`ATRIUM_CURRENCY must be a currency of ISO 4217 such as usd, not "${text}"`)
  return text.toLowerCase()
}

/** Any other server would receive the secret key. */
function stripeApiUrl(text: string): string {
  const { protocol, hostname, origin } = new URL(url('ATRIUM_STRIPE_API', text, ['http:', 'https:']))
  if (protocol !== 'http:' || !isLoopback(hostname))
    throw new StartError('ATRIUM_STRIPE_API is for tests: it may only be plain http on loopback')
  return origin
}

function egress(env: Env): Config['egress'] {
  const text = env.egress ?? 'public'
  if (text !== 'public' && text !== 'loopback') throw new StartError(`ATRIUM_EGRESS must be public or loopback, not "${text}"`)
  if (text === 'loopback' && env.nodeEnv === 'production')
    throw new StartError('ATRIUM_EGRESS=loopback is for development: it is refused when NODE_ENV is production')
  return text
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

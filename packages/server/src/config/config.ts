import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { Policy } from '@atrium/log/policy'
import { isCredential } from '@atrium/contract/tokens'
import { StartError } from '#errors/start-error.ts'
import { readBlobConfig, type BlobConfig } from './blob-config.ts'
import { readDatabaseConfig, readDatabaseUrl, type DatabaseConfig } from './database-config.ts'
import type { Env } from './env.ts'
import type { TenantLimits } from './tenant-limits.ts'
import { integer } from './integer.ts'
import { isLoopback } from './is-loopback.ts'
import { readLogPolicy } from './log-policy.ts'
import { readLimits, readStreamLimits } from './limits-config.ts'
import { readReportKeysConfig, type ReportKeysConfig } from './report-keys-config.ts'
import { readTelemetryConfig, type TelemetryConfig } from './telemetry-config.ts'
import { readTurnUrls } from './turn-config.ts'

export interface Config {
  /** Production rejects what only helps developers: the development tenant and its printed keys. */
  production: boolean
  host: string
  port: number
  /** Public origin of the API, without a trailing slash. */
  publicUrl: string
  /** Public origin of the console: that of the API, unless it has one of its own. */
  consoleUrl: string
  /** The identity provider of the console's members; undefined: they sign in with links. */
  consoleOidc: { issuer: string; clientId: string; clientSecret: string | undefined } | undefined
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
  database: DatabaseConfig
  /** Whether a start migrates the database of DATABASE_URL; otherwise it waits until `atrium migrate` has. */
  migrate: boolean
  /** Of a Redis, or of some nodes of a Redis Cluster; empty: none. */
  redisUrls: string[]
  /** Whether the token of ATRIUM_ADMIN_TOKEN is accepted beside the operators' own credentials. */
  bootstrapToken: boolean
  /** Factor on every rate limit; 0: off. */
  rateLimitFactor: number
  /** Addresses of the proxies whose X-Forwarded-For is trusted. */
  trustProxy: string[]
  logLevel: 'silent' | 'error' | 'info' | 'debug'
  /** Whether each answer of an operation is logged, at the level info. */
  accessLog: boolean
  /** Whether each API process measures how long a revoked key still works. */
  revocationProbe: boolean
  /** Where the metrics of this machine's processes are served. */
  metrics: { host: string; port: number | undefined; token: string | undefined }
  /** Who cosigns the checkpoints of the transparency log. */
  logPolicy: Policy
  /** undefined: nothing is sent over OTLP. */
  telemetry: TelemetryConfig | undefined
  /** Whether connections to /mcp may ask for tools that change data. */
  mcpWrites: boolean
  /** Price of a painting that is paid with a coupon, in whole credits. */
  paintPrice: number
  /** The default limits of a tenant, which an operator can override. */
  limits: TenantLimits
  /** Event streams that one process has open at once, in all and for one address. */
  streams: { perProcess: number; perAddress: number }
  oidc: { issuer: string; clientId: string } | undefined
  /** loopback: URLs of tenants (webhooks, agents, tools) may also be on this machine, over plain http. */
  egress: 'public' | 'loopback'
  reportKeys: ReportKeysConfig
  /** Price of one credit, in the currency's smallest unit. */
  creditPriceCents: number
  /** ISO 4217, lower case. */
  currency: string
  /** Replaces the URL of Stripe's API in tests: plain http on loopback. */
  stripeApiUrl: string | undefined
  /** Price of registering an agent, in whole credits. */
  agentFeeCredits: number
  /** How many days ended sessions, finished checkouts, events, entries of the audit log and of the request log are kept. */
  retentionDays: { sessions: number; checkouts: number; events: number; audit: number; requests: number }
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
    publicUrl: publicUrl(env.publicUrl ?? `http://localhost:${port}`),
    consoleUrl: consoleUrl(env, port),
    consoleOidc: consoleOidc(env),
    spacePort,
    spacesUrl: new URL(spacesUrl).origin,
    spaceOrigin: new URL(spacesUrl).origin,
    spacePublishableKey: env.spacePublishableKey && publishableKey('ATRIUM_SPACE_PUBLISHABLE_KEY', env.spacePublishableKey),
    dataDir: resolve(env.dataDir ?? './data'),
    databaseUrl: readDatabaseUrl('DATABASE_URL', env.databaseUrl),
    database: readDatabaseConfig(env),
    migrate: onOrOff('ATRIUM_MIGRATE', env.migrate ?? 'on'),
    redisUrls: env.redisUrl?.split(/,\s*(?=rediss?:)/).map((one) => url('REDIS_URL', one, ['redis:', 'rediss:'])) ?? [],
    bootstrapToken: onOrOff('ATRIUM_BOOTSTRAP_TOKEN', env.bootstrapToken ?? 'on'),
    rateLimitFactor: rateLimitFactor(env.rateLimit ?? '1'),
    trustProxy: env.trustProxy?.split(',').map((address) => proxyAddress(address.trim())) ?? [],
    logLevel: logLevel(env.log ?? 'info'),
    accessLog: onOrOff('ATRIUM_ACCESS_LOG', env.accessLog ?? 'on'),
    revocationProbe: onOrOff('ATRIUM_REVOCATION_PROBE', env.revocationProbe ?? 'on'),
    metrics: metrics(env),
    logPolicy: readLogPolicy(env),
    telemetry: readTelemetryConfig(env),
    mcpWrites: onOrOff('ATRIUM_MCP_WRITES', env.mcpWrites ?? 'off'),
    paintPrice: integer('ATRIUM_PAINT_PRICE', env.paintPrice ?? '1', 0, 1_000_000_000),
    limits: readLimits(env),
    streams: readStreamLimits(env),
    oidc: oidc(env),
    egress: egress(env),
    reportKeys: readReportKeysConfig(env),
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
    // A payment may be reported days later. A chargeback is allowed for up to 540 days, and its report may take some more.
    checkouts: days('ATRIUM_CHECKOUT_RETENTION_DAYS', env.checkoutRetentionDays ?? '550', 7),
    // Not shorter than the time in which a delivery is attempted.
    events: days('ATRIUM_EVENT_RETENTION_DAYS', env.eventRetentionDays ?? '30', 5),
    // The database refuses to remove younger entries.
    audit: days('ATRIUM_AUDIT_RETENTION_DAYS', env.auditRetentionDays ?? '365', 30),
    // 0: no request is logged.
    requests: days('ATRIUM_REQUEST_RETENTION_DAYS', env.requestRetentionDays ?? '7', 0),
  }
}

function metrics({ metricsHost: host, metricsPort: port, metricsToken: token }: Env): Config['metrics'] {
  if (host !== undefined && port === undefined)
    throw new StartError('ATRIUM_METRICS_PORT must be set when ATRIUM_METRICS_HOST is')
  if (token !== undefined && token.length < 16) throw new StartError('ATRIUM_METRICS_TOKEN must have at least 16 characters')
  return {
    host: host ?? '127.0.0.1',
    port: port === undefined ? undefined : integer('ATRIUM_METRICS_PORT', port, 0, 65_535),
    token,
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

/** As it was written, but without slashes at the end: agents and verifiers compare it as the name of the issuer. */
function publicUrl(text: string): string {
  readOrigin('ATRIUM_PUBLIC_URL', text, 'https://api.example')
  return text.replace(/(?<!\/)\/+$/, '')
}

function consoleUrl({ consoleUrl: own, publicUrl: api }: Env, port: number): string {
  if (own === undefined) return new URL(api ?? `http://localhost:${port}`).origin
  const { protocol, hostname, origin } = readOrigin('ATRIUM_CONSOLE_URL', own, 'https://console.example')
  if (protocol === 'http:' && !isLoopback(hostname)) throw new StartError('ATRIUM_CONSOLE_URL may be plain http on loopback only')
  return origin
}

/** The API is at /v1 of its origin, and the console at /console: with a path, every address that is shown would be wrong. */
function readOrigin(name: string, text: string, example: string): URL {
  const parsed = new URL(url(name, text, ['http:', 'https:']))
  // The text itself, because URL drops an empty query or fragment, a path of dots, and a missing slash of `https:/host`.
  if (!/^https?:\/\/[^/?#@\\\s]+\/*$/i.test(text))
    throw new StartError(`${name} must be an origin without a path, such as ${example}`)
  return parsed
}

/** A wrong value is not quoted, because it may be a secret key. */
function publishableKey(name: string, text: string): string {
  if (!isCredential('publishableKey', text)) throw new StartError(`${name} must be a complete publishable key (wpk_…)`)
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

function oidc({ oidcIssuer: issuer, oidcClientId: clientId }: Env): Config['oidc'] {
  return oidcClient('', issuer, clientId)
}

/** A client of its own: a token for the console means nothing to rooms, and the other way round. */
function consoleOidc(env: Env): Config['consoleOidc'] {
  const { consoleOidcIssuer, consoleOidcClientId, consoleOidcClientSecret: clientSecret } = env
  const client = oidcClient('ATRIUM_CONSOLE_', consoleOidcIssuer, consoleOidcClientId)
  if (!client && clientSecret !== undefined)
    throw new StartError('ATRIUM_CONSOLE_OIDC_ISSUER must be set when ATRIUM_CONSOLE_OIDC_CLIENT_SECRET is')
  if (client && client.issuer === env.oidcIssuer && client.clientId === env.oidcClientId)
    throw new StartError('ATRIUM_CONSOLE_OIDC_CLIENT_ID must not be the client of OIDC_CLIENT_ID: its tokens open rooms')
  return client && { ...client, clientSecret }
}

function oidcClient(prefix: string, issuer: string | undefined, clientId: string | undefined): Config['oidc'] {
  const [issuerName, clientName] = [`${prefix}OIDC_ISSUER`, `${prefix}OIDC_CLIENT_ID`]
  if (!issuer && !clientId) return undefined
  if (!issuer) throw new StartError(`${issuerName} must be set when ${clientName} is`)
  if (!clientId) throw new StartError(`${clientName} must be set when ${issuerName} is`)
  const { protocol, hostname } = new URL(url(issuerName, issuer, ['https:', 'http:']))
  if (protocol === 'http:' && !isLoopback(hostname)) throw new StartError(`${issuerName} may be plain http on loopback only`)
  return { issuer, clientId }
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

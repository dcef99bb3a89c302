import { closest } from '#errors/closest.ts'

/** The one place that reads the environment. An empty variable counts as absent. */
export function readEnv(env: NodeJS.ProcessEnv = process.env) {
  return readVariables((name) => env[name]?.trim() || undefined)
}

/** Variables that the Space service, the command line and the client's examples read. */
const readElsewhere = [
  'ATRIUM_DEV_IDENTITY',
  'ATRIUM_KEY',
  'ATRIUM_SPACE_BYTES_PER_DAY',
  'ATRIUM_SPACE_COUPON_URL',
  'ATRIUM_SPACE_MAX_BYTES',
  'ATRIUM_SPACE_ROOMS_PER_HOUR',
  'ATRIUM_SPACE_SIGNING_KEY',
  'ATRIUM_SPACE_UNUSED_DAYS',
  'OIDC_JWKS_ORIGIN',
]

/** Only the tests of this repository set variables that begin so. */
const testPrefix = 'ATRIUM_TEST_'

/**
 * Returns a line for each variable that is probably a mistake: one that begins with ATRIUM_ and that no version of this
 * release reads, one that is nearly the name of another variable, and a NODE_ENV that is not production but looks so.
 * Names only, never values: a value may be a secret.
 */
export function environmentWarnings(env: NodeJS.ProcessEnv = process.env): string[] {
  const names = new Set(readElsewhere)
  readVariables((name) => void names.add(name))
  const families = ['ATRIUM_', 'SPACE_', 'OIDC_', 'TURN_', 'STRIPE_', 'S3_', 'DATABASE_', 'REDIS_']
  const unknown = Object.keys(env).flatMap((name) => {
    if (names.has(name) || !env[name] || name.startsWith(testPrefix)) return []
    const meant = closest(name, names)
    const isOurs = name.startsWith('ATRIUM_') || (meant !== undefined && families.some((family) => name.startsWith(family)))
    if (!isOurs) return []
    return [`${name} is not a variable of Atrium and has no effect.${meant === undefined ? '' : ` Did you mean ${meant}?`}`]
  })
  const nodeEnv = env['NODE_ENV']?.trim()
  const isOdd = nodeEnv && !['production', 'development', 'test'].includes(nodeEnv)
  return isOdd
    ? [...unknown, 'NODE_ENV is none of production, development and test. Only production turns the development tenant off.']
    : unknown
}

function readVariables(get: (name: string) => string | undefined) {
  return {
    nodeEnv: get('NODE_ENV'),
    port: get('PORT'),
    host: get('HOST'),
    publicUrl: get('ATRIUM_PUBLIC_URL'),
    spacePort: get('SPACE_PORT'),
    spacesUrl: get('ATRIUM_SPACES_URL'),
    spacePublishableKey: get('ATRIUM_SPACE_PUBLISHABLE_KEY'),
    dataDir: get('ATRIUM_DATA_DIR'),
    databaseUrl: get('DATABASE_URL'),
    redisUrl: get('REDIS_URL'),
    adminToken: get('ATRIUM_ADMIN_TOKEN'),
    masterKey: get('ATRIUM_MASTER_KEY'),
    rateLimit: get('ATRIUM_RATE_LIMIT'),
    trustProxy: get('ATRIUM_TRUST_PROXY'),
    log: get('ATRIUM_LOG'),
    accessLog: get('ATRIUM_ACCESS_LOG'),
    egress: get('ATRIUM_EGRESS'),
    oidcIssuer: get('OIDC_ISSUER'),
    oidcClientId: get('OIDC_CLIENT_ID'),
    stripeSecretKey: get('STRIPE_SECRET_KEY'),
    stripeWebhookSecret: get('STRIPE_WEBHOOK_SECRET'),
    stripeApiUrl: get('ATRIUM_STRIPE_API'),
    creditPriceCents: get('ATRIUM_CREDIT_PRICE_CENTS'),
    currency: get('ATRIUM_CURRENCY'),
    agentFee: get('ATRIUM_AGENT_FEE'),
    paintPrice: get('ATRIUM_PAINT_PRICE'),
    paintAllowance: get('ATRIUM_PAINT_ALLOWANCE'),
    paintsPerAddress: get('ATRIUM_PAINTS_PER_ADDRESS'),
    paintsPerCollection: get('ATRIUM_PAINTS_PER_COLLECTION'),
    paintsPerDay: get('ATRIUM_PAINTS_PER_DAY'),
    uploadBytesPerAddress: get('ATRIUM_UPLOAD_BYTES_PER_ADDRESS'),
    storedBytes: get('ATRIUM_STORED_BYTES'),
    streams: get('ATRIUM_STREAMS'),
    streamsPerTenant: get('ATRIUM_STREAMS_PER_TENANT'),
    streamsPerAddress: get('ATRIUM_STREAMS_PER_ADDRESS'),
    sessionRetentionDays: get('ATRIUM_SESSION_RETENTION_DAYS'),
    checkoutRetentionDays: get('ATRIUM_CHECKOUT_RETENTION_DAYS'),
    eventRetentionDays: get('ATRIUM_EVENT_RETENTION_DAYS'),
    mcpWrites: get('ATRIUM_MCP_WRITES'),
    // Of `atrium mcp`, which calls an installation.
    key: get('ATRIUM_KEY'),
    collectionToken: get('ATRIUM_COLLECTION_TOKEN'),
    coupon: get('ATRIUM_COUPON'),
    turnUrls: get('TURN_URLS'),
    turnSecret: get('TURN_SECRET'),
    blobs: get('ATRIUM_BLOBS'),
    s3Endpoint: get('S3_ENDPOINT'),
    s3Bucket: get('S3_BUCKET'),
    s3Region: get('S3_REGION'),
    s3AccessKeyId: get('S3_ACCESS_KEY_ID'),
    s3SecretAccessKey: get('S3_SECRET_ACCESS_KEY'),
  }
}

export type Env = ReturnType<typeof readEnv>

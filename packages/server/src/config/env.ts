import { closest } from '#errors/closest.ts'
import { readSecretFile, secretVariables } from './secret-files.ts'

/**
 * The one place that reads the environment. An empty variable counts as absent. A secret that is absent is read from the
 * file that `<name>_FILE` names.
 */
export function readEnv(env: NodeJS.ProcessEnv = process.env) {
  return readVariables((name) => env[name]?.trim() || (secretVariables.includes(name) ? readSecretFile(env, name) : undefined))
}

/** Read only where it is needed: a role that does not need this secret may have no right to read its file. */
export function readSpaceSigningKey(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env['ATRIUM_SPACE_SIGNING_KEY']?.trim() || readSecretFile(env, 'ATRIUM_SPACE_SIGNING_KEY')
}

/** Variables that the Space service, the command line, the clients and their examples read. */
const readElsewhere = [
  'ATRIUM_CONTROL_TOKEN',
  'ATRIUM_DEV_IDENTITY',
  'ATRIUM_KEY',
  'ATRIUM_SPACE_BYTES_PER_DAY',
  'ATRIUM_SPACE_COUPON_URL',
  'ATRIUM_SPACE_MAX_BYTES',
  'ATRIUM_SPACE_PROCESSES',
  'ATRIUM_SPACE_ROOMS_PER_HOUR',
  'ATRIUM_SPACE_SIGNING_KEY',
  'ATRIUM_SPACE_UNUSED_DAYS',
  'ATRIUM_URL',
  'OIDC_JWKS_ORIGIN',
]

/** The library that sends telemetry reads these itself, also for one signal alone. */
const readByExporter =
  /^OTEL_EXPORTER_OTLP_(?:TRACES_|METRICS_)?(?:HEADERS|COMPRESSION|CERTIFICATE|CLIENT_CERTIFICATE|CLIENT_KEY)$/

/** Only the tests of this repository set variables that begin so. */
const testPrefix = 'ATRIUM_TEST_'

/**
 * Returns a line for each variable that is probably a mistake: a secret that is set twice, a name that begins with
 * ATRIUM_ or OTEL_EXPORTER_OTLP_ and that nothing in this release reads, a near miss of another variable's name, and
 * a NODE_ENV that looks like production but is not. The lines contain names and never values, because a value may be a
 * secret.
 */
export function environmentWarnings(env: NodeJS.ProcessEnv = process.env): string[] {
  const names = new Set(readElsewhere)
  readVariables((name) => void names.add(name))
  for (const name of secretVariables) names.add(`${name}_FILE`)
  const families = ['ATRIUM_', 'SPACE_', 'OIDC_', 'TURN_', 'STRIPE_', 'S3_', 'DATABASE_', 'REDIS_', 'OTEL_']
  const unknown = Object.keys(env).flatMap((name) => {
    if (names.has(name) || !env[name] || name.startsWith(testPrefix) || readByExporter.test(name)) return []
    // Most variables of a machine are somebody else's, and a comparison with all of ours takes 0.5 ms.
    if (!families.some((family) => name.startsWith(family))) return []
    const meant = closest(name, names)
    const isOurs = meant !== undefined || ['ATRIUM_', 'OTEL_EXPORTER_OTLP_'].some((prefix) => name.startsWith(prefix))
    if (!isOurs) return []
    return [`${name} is not a variable of Atrium and has no effect.${meant === undefined ? '' : ` Did you mean ${meant}?`}`]
  })
  const twice = secretVariables
    .filter((name) => env[name]?.trim() && env[`${name}_FILE`]?.trim())
    .map((name) => `${name} and ${name}_FILE are both set. ${name} is used, and the file is not read.`)
  const nodeEnv = env['NODE_ENV']?.trim()
  const isOdd = nodeEnv && !['production', 'development', 'test'].includes(nodeEnv)
  return isOdd
    ? [
        ...unknown,
        ...twice,
        'NODE_ENV is none of production, development and test. Only production turns the development tenant off.',
      ]
    : [...unknown, ...twice]
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
    databaseDirectUrl: get('DATABASE_DIRECT_URL'),
    databasePoolSize: get('DATABASE_POOL_SIZE'),
    spaceDatabaseUrl: get('SPACE_DATABASE_URL'),
    spaceDatabaseDirectUrl: get('SPACE_DATABASE_DIRECT_URL'),
    spaceDatabasePoolSize: get('SPACE_DATABASE_POOL_SIZE'),
    migrate: get('ATRIUM_MIGRATE'),
    redisUrl: get('REDIS_URL'),
    adminToken: get('ATRIUM_ADMIN_TOKEN'),
    bootstrapToken: get('ATRIUM_BOOTSTRAP_TOKEN'),
    masterKey: get('ATRIUM_MASTER_KEY'),
    masterKeyKms: get('ATRIUM_MASTER_KEY_KMS'),
    masterKeyKmsRegion: get('ATRIUM_MASTER_KEY_KMS_REGION'),
    masterKeyKmsEndpoint: get('ATRIUM_MASTER_KEY_KMS_ENDPOINT'),
    rateLimit: get('ATRIUM_RATE_LIMIT'),
    trustProxy: get('ATRIUM_TRUST_PROXY'),
    log: get('ATRIUM_LOG'),
    accessLog: get('ATRIUM_ACCESS_LOG'),
    revocationProbe: get('ATRIUM_REVOCATION_PROBE'),
    egress: get('ATRIUM_EGRESS'),
    leaksKeysUrl: get('ATRIUM_LEAKS_KEYS_URL'),
    leaksKeysFile: get('ATRIUM_LEAKS_KEYS_FILE'),
    consoleUrl: get('ATRIUM_CONSOLE_URL'),
    consoleOidcIssuer: get('ATRIUM_CONSOLE_OIDC_ISSUER'),
    consoleOidcClientId: get('ATRIUM_CONSOLE_OIDC_CLIENT_ID'),
    consoleOidcClientSecret: get('ATRIUM_CONSOLE_OIDC_CLIENT_SECRET'),
    oidcIssuer: get('OIDC_ISSUER'),
    oidcClientId: get('OIDC_CLIENT_ID'),
    stripeSecretKey: get('STRIPE_SECRET_KEY'),
    stripeWebhookSecret: get('STRIPE_WEBHOOK_SECRET'),
    stripeApiUrl: get('ATRIUM_STRIPE_API'),
    creditPriceCents: get('ATRIUM_CREDIT_PRICE_CENTS'),
    currency: get('ATRIUM_CURRENCY'),
    agentFee: get('ATRIUM_AGENT_FEE'),
    metricsHost: get('ATRIUM_METRICS_HOST'),
    metricsPort: get('ATRIUM_METRICS_PORT'),
    logPolicy: get('ATRIUM_LOG_POLICY'),
    metricsToken: get('ATRIUM_METRICS_TOKEN'),
    otlpEndpoint: get('OTEL_EXPORTER_OTLP_ENDPOINT'),
    otlpHeaders: get('OTEL_EXPORTER_OTLP_HEADERS'),
    otlpProtocol: get('OTEL_EXPORTER_OTLP_PROTOCOL'),
    otelServiceName: get('OTEL_SERVICE_NAME'),
    otelResource: get('OTEL_RESOURCE_ATTRIBUTES'),
    otelTracesExporter: get('OTEL_TRACES_EXPORTER'),
    otelMetricsExporter: get('OTEL_METRICS_EXPORTER'),
    otelSampler: get('OTEL_TRACES_SAMPLER'),
    otelSamplerArg: get('OTEL_TRACES_SAMPLER_ARG'),
    otelDisabled: get('OTEL_SDK_DISABLED'),
    otelSpanDelay: get('OTEL_BSP_SCHEDULE_DELAY'),
    otelMetricInterval: get('OTEL_METRIC_EXPORT_INTERVAL'),
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
    auditRetentionDays: get('ATRIUM_AUDIT_RETENTION_DAYS'),
    requestRetentionDays: get('ATRIUM_REQUEST_RETENTION_DAYS'),
    mcpWrites: get('ATRIUM_MCP_WRITES'),
    // Variables of `atrium mcp`, which calls an installation.
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

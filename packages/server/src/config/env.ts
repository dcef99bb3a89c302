/** The one place that reads the environment. An empty variable counts as absent. */
export function readEnv(env: NodeJS.ProcessEnv = process.env) {
  const get = (name: string) => env[name]?.trim() || undefined
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

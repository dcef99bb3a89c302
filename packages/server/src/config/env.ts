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
    dataDir: get('ATRIUM_DATA_DIR'),
    databaseUrl: get('DATABASE_URL'),
    redisUrl: get('REDIS_URL'),
    adminToken: get('ATRIUM_ADMIN_TOKEN'),
    masterKey: get('ATRIUM_MASTER_KEY'),
    rateLimit: get('ATRIUM_RATE_LIMIT'),
    trustProxy: get('ATRIUM_TRUST_PROXY'),
    log: get('ATRIUM_LOG'),
    oidcIssuer: get('OIDC_ISSUER'),
    oidcClientId: get('OIDC_CLIENT_ID'),
  }
}

export type Env = ReturnType<typeof readEnv>

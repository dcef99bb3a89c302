import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

export interface DatabaseAddress {
  /** A host name or IP address; one that begins with a slash is the folder of a Unix socket. */
  host: string
  port: number
  user: string
  database: string
  password: string | undefined
  /** Undefined: the connection is not encrypted. */
  tls: ConnectionOptions | undefined
  /** PostgreSQL 17's `sslnegotiation=direct`: the TLS handshake begins at once, without the question whether the server has TLS. */
  isTlsDirect: boolean
  applicationName: string | undefined
  /** Command-line options of the session, such as `-c timezone=UTC`. */
  options: string | undefined
}

/**
 * Reads `postgresql://user:password@host:port/database?parameters`. Parameters win over the parts of the URL, and libpq's environment
 * variables (PGHOST, PGUSER, PGPASSWORD…) stand in for what is missing. Throws where it is no such URL; the error does not quote it.
 */
export function readDatabaseAddress(text: string, env: NodeJS.ProcessEnv = process.env): DatabaseAddress {
  const url = parseUrl(text)
  const given = (name: string, part = '') => url.searchParams.get(name) || part || env[`PG${name.toUpperCase()}`] || undefined
  const user = given('user', decode(url.username)) ?? env['USER'] ?? 'postgres'
  const isTlsDirect = given('sslnegotiation') === 'direct'
  return {
    host: given('host', decode(url.hostname.replace(/^\[(.+)\]$/, '$1'))) ?? 'localhost',
    port: Number(given('port', url.port) ?? 5432),
    user,
    database: given('database', decode(url.pathname.slice(1))) ?? user,
    password: given('password', decode(url.password)),
    tls: readTls(url.searchParams, env) ?? (isTlsDirect ? {} : undefined),
    isTlsDirect,
    applicationName: url.searchParams.get('application_name') ?? env['PGAPPNAME'],
    options: given('options'),
  }
}

function parseUrl(text: string): URL {
  // `postgresql:///database?host=/folder` needs no host, which URL does not accept after a user.
  const url = URL.parse(text) ?? URL.parse(text.replace('@/', '@localhost/'))
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol)) throw new Error('the address of the database is not a postgresql:// URL')
  return url
}

/** A percent sign that encodes nothing stands for itself, as in a password that was pasted as it is. */
function decode(part: string): string {
  return part.replace(/(?:%[0-9a-f]{2})+/gi, decodeURIComponent)
}

/**
 * Every mode that encrypts verifies the certificate and the host name, except `no-verify`. With `uselibpqcompat=true` the modes mean what they mean
 * in libpq: `prefer` and `require` verify nothing, `verify-ca` verifies the certificate and not the name.
 */
function readTls(parameters: URLSearchParams, env: NodeJS.ProcessEnv): ConnectionOptions | undefined {
  const flag = parameters.get('ssl')
  const mode = parameters.get('sslmode') ?? (flag === null ? env['PGSSLMODE'] : undefined)
  const files = { ca: parameters.get('sslrootcert'), cert: parameters.get('sslcert'), key: parameters.get('sslkey') }
  const tls: ConnectionOptions = {}
  for (const [name, path] of Object.entries(files)) if (path) tls[name as 'ca' | 'cert' | 'key'] = readFileSync(path)
  if (mode === 'disable') return undefined
  if (mode === undefined && Object.keys(tls).length === 0 && !['true', '1', 'no-verify'].includes(flag ?? '')) return undefined
  if (mode === 'no-verify' || flag === 'no-verify') tls.rejectUnauthorized = false
  if (parameters.get('uselibpqcompat') !== 'true') return tls
  if (mode === 'verify-ca' && !files.ca) throw new Error('sslmode=verify-ca needs sslrootcert')
  if (mode === 'prefer' || (mode === 'require' && !files.ca)) tls.rejectUnauthorized = false
  if (mode === 'verify-ca' || mode === 'require') tls.checkServerIdentity = () => undefined
  return tls
}

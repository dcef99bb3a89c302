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
  /**
   * PostgreSQL 17's `sslnegotiation=direct`: the TLS handshake begins at once, without asking whether the server
   * supports TLS.
   */
  isTlsDirect: boolean
  applicationName: string | undefined
  /** Command-line options of the session, such as `-c timezone=UTC`. */
  options: string | undefined
}

/**
 * Parses `postgresql://user:password@host:port/database?parameters`. Parameters override the parts of the URL, and
 * libpq's environment variables (PGHOST, PGUSER, PGPASSWORD…) supply what is missing. Throws if the URL is not
 * valid; the error does not quote it.
 */
export function readDatabaseAddress(text: string, env: NodeJS.ProcessEnv = process.env): DatabaseAddress {
  const url = parseUrl(text)
  const given = (name: string, part = '') => url.searchParams.get(name) || part || env[`PG${name.toUpperCase()}`] || undefined
  const user = given('user', decode(url.username)) ?? env['USER'] ?? 'postgres'
  const host = given('host', decode(url.hostname.replace(/^\[(.+)\]$/, '$1'))) ?? 'localhost'
  if (host.includes(',')) throw new Error(severalHosts)
  const isSocket = host.startsWith('/')
  const isTlsDirect = !isSocket && given('sslnegotiation') === 'direct'
  return {
    host,
    port: readPort(given('port', url.port) ?? '5432'),
    user,
    // `dbname` is the name in libpq, `database` that of the environment variable.
    database: url.searchParams.get('dbname') || (given('database', decode(url.pathname.slice(1))) ?? user),
    password: given('password', decode(url.password)),
    // As in libpq, a Unix socket is never encrypted.
    tls: isSocket ? undefined : (readTls(url.searchParams, env) ?? (isTlsDirect ? {} : undefined)),
    isTlsDirect,
    applicationName: url.searchParams.get('application_name') ?? env['PGAPPNAME'],
    options: given('options'),
  }
}

const severalHosts = 'the address of the database names several hosts, which is not supported: name one that leads to the primary'

function parseUrl(text: string): URL {
  // `postgresql:///database?host=/folder` needs no host, which URL does not accept after a user.
  const url = URL.parse(text) ?? URL.parse(text.replace('@/', '@localhost/'))
  if (!url && /^postgres(?:ql)?:\/\/[^/?]*,[^/?]*/.test(text)) throw new Error(severalHosts)
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol)) throw new Error('the address of the database is not a postgresql:// URL')
  if (url.hash) throw new Error('the address of the database has a #: write %23 where it is part of the password')
  return url
}

/** A percent sign that encodes nothing is taken literally, as in a password that was pasted unencoded. */
function decode(part: string): string {
  try {
    return part.replace(/(?:%[0-9a-f]{2})+/gi, decodeURIComponent)
  } catch {
    // The cause would quote the password.
    throw new Error('the address of the database has a percent sign before what is not UTF-8: write %25 for the sign itself')
  }
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new Error('the port in the address of the database is not a number from 1 to 65535')
  return port
}

const modes = new Set(['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'])

/**
 * Every mode that encrypts verifies the certificate and the host name, except `no-verify`. With `uselibpqcompat=true` the modes mean what they mean
 * in libpq, except that nothing is sent without encryption: `allow`, `prefer` and `require` verify nothing, `verify-ca` (and `require` with
 * `sslrootcert`) verifies the certificate and not the name.
 */
function readTls(parameters: URLSearchParams, env: NodeJS.ProcessEnv): ConnectionOptions | undefined {
  const flag = parameters.get('ssl')
  const mode = parameters.get('sslmode') || (flag === null ? env['PGSSLMODE'] : undefined) || undefined
  if (mode !== undefined && !modes.has(mode)) throw new Error('the address of the database has an unknown sslmode')
  if (mode === 'disable') return undefined
  const rootFile = parameters.get('sslrootcert')
  const ca = rootFile === 'system' ? undefined : readTlsFile('sslrootcert', rootFile)
  const cert = readTlsFile('sslcert', parameters.get('sslcert'))
  const key = readTlsFile('sslkey', parameters.get('sslkey'))
  if (mode === undefined && !rootFile && !cert && !key && !['true', '1', 'no-verify'].includes(flag ?? '')) return undefined
  const tls: ConnectionOptions = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) }
  if (mode === 'no-verify' || flag === 'no-verify') tls.rejectUnauthorized = false
  if (parameters.get('uselibpqcompat') !== 'true') return tls
  if (mode === 'verify-ca' && !ca) throw new Error('sslmode=verify-ca needs sslrootcert')
  if (mode === 'allow' || mode === 'prefer' || (mode === 'require' && !ca)) tls.rejectUnauthorized = false
  if (mode === 'verify-ca' || mode === 'require') tls.checkServerIdentity = () => undefined
  return tls
}

function readTlsFile(parameter: string, path: string | null): Buffer | undefined {
  if (!path) return undefined
  try {
    return readFileSync(path)
  } catch (cause) {
    // Without this, the error would have the code of a Unix socket that does not exist yet, which counts as
    // temporary.
    throw new Error(`the file that ${parameter} names cannot be read: ${path}`, { cause })
  }
}
